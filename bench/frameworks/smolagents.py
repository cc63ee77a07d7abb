"""smolagents' ToolCallingAgent."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from peers_play import ANSWER

NAME = "smolagents"
PACKAGES = ("smolagents[openai]",)
BEST = (
    "ToolCallingAgent with OpenAIModel, whole answers, stream_outputs for fragments; nothing logged; threads"
)
STORE = "a JSON list restored as steps of its memory: it has no store"
THREADS = True
FINAL = {"calls": [{"name": "final_answer", "args": {"answer": ANSWER}}]}


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], str]:
    """Make an agent for each conversation, because an agent holds one conversation."""
    model = _model(url)

    def ask(prompt: str) -> str:
        return str(_agent(model, tools).run(prompt))

    return ask


def stream(url: str) -> Callable[[str], int]:
    """Count the deltas with a text."""
    from smolagents.models import ChatMessageStreamDelta

    model = _model(url)

    def ask(prompt: str) -> int:
        items = _agent(model, (), stream_outputs=True).run(prompt, stream=True)
        return sum(isinstance(item, ChatMessageStreamDelta) and bool(item.content) for item in items)

    return ask


def save(place: Path, said: Sequence[str]) -> None:
    """Save the texts."""
    (place / "said.json").write_text(json.dumps(said))


def resume(url: str, place: Path) -> Callable[[str], str]:
    """Turn the texts into steps, and continue after them."""

    def ask(prompt: str) -> str:
        from smolagents.memory import ActionStep, TaskStep
        from smolagents.monitoring import Timing

        agent = _agent(_model(url), ())
        for number, text in enumerate(json.loads((place / "said.json").read_text())):
            step = ActionStep(number, Timing(0.0), model_output=text) if number % 2 else TaskStep(text)
            agent.memory.steps.append(step)
        return str(agent.run(prompt, reset=False))

    return ask


def _model(url: str) -> Any:
    from smolagents import OpenAIModel

    return OpenAIModel("bench", api_base=url, api_key="none")


def _agent(model: Any, tools: Sequence[Callable[..., Any]], **options: Any) -> Any:
    from peers_play import TURNS
    from rich.console import Console
    from smolagents import AgentLogger, LogLevel, ToolCallingAgent, tool

    for one in tools:  # it requires a description of each argument
        name = next(iter(one.__annotations__))
        one.__doc__ = f"{(one.__doc__ or '').partition(chr(10))[0]}\n\nArgs:\n    {name}: which one\n"
    made = [tool(one) for one in tools]
    logger = AgentLogger(LogLevel.OFF, Console(quiet=True))
    return ToolCallingAgent(made, model, max_steps=TURNS, logger=logger, **options)
