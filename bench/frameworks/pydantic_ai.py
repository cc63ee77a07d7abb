"""pydantic-ai's Agent."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

NAME = "pydantic-ai"
PACKAGES = ("pydantic-ai-slim[openai]",)
BEST = "Agent with OpenAIChatModel, whole answers, run_stream_events for fragments; no instrumentation"
STORE = "a file of its ModelMessagesTypeAdapter: it has no store"


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Run one agent repeatedly."""
    from pydantic_ai import UsageLimits

    agent, limits = _agent(url, tools), UsageLimits(request_limit=None)

    async def ask(prompt: str) -> str:
        return (await agent.run(prompt, usage_limits=limits)).output

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the deltas among its events."""
    from pydantic_ai import PartDeltaEvent, PartStartEvent

    agent = _agent(url, ())

    async def ask(prompt: str) -> int:
        seen = 0
        async with agent.run_stream_events(prompt) as events:
            async for event in events:
                seen += isinstance(event, PartDeltaEvent | PartStartEvent)
        return seen

    return ask


def save(place: Path, said: Sequence[str]) -> None:
    """Save messages as its documentation describes."""
    from pydantic_ai import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, TextPart

    messages = [
        ModelResponse([TextPart(text)]) if number % 2 else ModelRequest.user_text_prompt(text)
        for number, text in enumerate(said)
    ]
    (place / "messages.json").write_bytes(ModelMessagesTypeAdapter.dump_json(messages))


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Run with the messages of the file."""
    from pydantic_ai import ModelMessagesTypeAdapter

    agent = _agent(url, ())

    async def ask(prompt: str) -> str:
        history = ModelMessagesTypeAdapter.validate_json((place / "messages.json").read_bytes())
        return (await agent.run(prompt, message_history=history)).output

    return ask


def _agent(url: str, tools: Sequence[Callable[..., Any]]) -> Any:
    from peers_play import SYSTEM
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("bench", provider=OpenAIProvider(base_url=url, api_key="none"))
    return Agent(model, instructions=SYSTEM, tools=list(tools))
