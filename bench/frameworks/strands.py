"""Strands Agents."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

NAME = "Strands"
PACKAGES = ("strands-agents[openai]",)
BEST = "Agent with OpenAIModel, whole answers, stream_async for fragments; nothing printed, history not cut"
STORE = "FileSessionManager"


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Make an agent for each conversation, because an agent holds one conversation."""
    model, made = _model(url, stream=False), _tools(tools)

    async def ask(prompt: str) -> str:
        return str(await _agent(model, made).invoke_async(prompt)).strip()

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the events with a text."""
    model = _model(url, stream=True)

    async def ask(prompt: str) -> int:
        return sum([bool(event.get("data")) async for event in _agent(model, []).stream_async(prompt)])

    return ask


def save(place: Path, said: Sequence[str]) -> None:
    """Save the messages with an agent's session manager."""
    manager = _manager(place)
    agent = _agent(_model("http://127.0.0.1", stream=False), [], manager)
    roles = ("user", "assistant")
    for number, text in enumerate(said):
        manager.append_message({"role": roles[number % 2], "content": [{"text": text}]}, agent)


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Continue the session."""
    model = _model(url, stream=False)

    async def ask(prompt: str) -> str:
        return str(await _agent(model, [], _manager(place)).invoke_async(prompt)).strip()

    return ask


def _model(url: str, *, stream: bool) -> Any:
    from strands.models.openai import OpenAIModel

    return OpenAIModel(client_args={"base_url": url, "api_key": "none"}, model_id="bench", stream=stream)


def _tools(tools: Sequence[Callable[..., Any]]) -> list[Any]:
    from strands import tool

    return [tool(one) for one in tools]


def _agent(model: Any, tools: list[Any], manager: Any = None) -> Any:
    from peers_play import SYSTEM
    from strands import Agent
    from strands.agent.conversation_manager import NullConversationManager

    return Agent(
        model,
        tools=tools,
        system_prompt=SYSTEM,
        callback_handler=None,
        agent_id="bench",
        conversation_manager=NullConversationManager(),
        session_manager=manager,
    )


def _manager(place: Path) -> Any:
    from strands.session.file_session_manager import FileSessionManager

    return FileSessionManager("bench", str(place))
