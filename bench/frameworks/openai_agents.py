"""The OpenAI Agents SDK."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

NAME = "OpenAI Agents SDK"
PACKAGES = ("openai-agents",)
BEST = "Runner with OpenAIChatCompletionsModel, whole answers, run_streamed for fragments; tracing off"
STORE = "SQLiteSession"


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Run one agent repeatedly."""
    from agents import Runner
    from peers_play import TURNS

    agent = _agent(url, tools)

    async def ask(prompt: str) -> str:
        return str((await Runner.run(agent, prompt, max_turns=TURNS)).final_output)

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the deltas among the raw events."""
    from agents import Runner

    agent = _agent(url, ())

    async def ask(prompt: str) -> int:
        seen = 0
        async for event in Runner.run_streamed(agent, prompt).stream_events():
            if event.type == "raw_response_event":
                seen += event.data.type == "response.output_text.delta" and bool(event.data.delta)
        return seen

    return ask


async def save(place: Path, said: Sequence[str]) -> None:
    """Add the messages to a session."""
    roles = ("user", "assistant")
    items = [{"role": roles[number % 2], "content": text} for number, text in enumerate(said)]
    await _session(place).add_items(items)


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Continue the session."""
    from agents import Runner

    agent = _agent(url, ())

    async def ask(prompt: str) -> str:
        return str((await Runner.run(agent, prompt, session=_session(place))).final_output)

    return ask


def _session(place: Path) -> Any:
    from agents import SQLiteSession

    return SQLiteSession("bench", place / "sessions.db")


def _agent(url: str, tools: Sequence[Callable[..., Any]]) -> Any:
    from agents import Agent, OpenAIChatCompletionsModel, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI
    from peers_play import SYSTEM

    set_tracing_disabled(disabled=True)
    model = OpenAIChatCompletionsModel("bench", AsyncOpenAI(base_url=url, api_key="none"))
    return Agent(name="bench", instructions=SYSTEM, tools=[function_tool(one) for one in tools], model=model)
