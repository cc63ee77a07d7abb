"""Simon Willison's `llm`."""

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from peers_play import SYSTEM

NAME = "llm"
PACKAGES = ("llm",)
BEST = "async conversations of its OpenAI chat model, whole answers, streamed for fragments; nothing logged"
STORE = "its log database, as `llm -c` reads it"
MODEL_FILE = "extra-openai-models.yaml"


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Follow the chain of each conversation to its last answer."""
    model = _model(url)

    async def ask(prompt: str) -> str:
        chain = model.conversation(tools=list(tools), chain_limit=0).chain(
            prompt, system=SYSTEM, stream=False
        )
        last = ""
        async for response in chain.responses():
            last = await response.text()
        return last

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the texts."""
    model = _model(url)

    async def ask(prompt: str) -> int:
        return sum([bool(text) async for text in model.conversation().prompt(prompt, system=SYSTEM)])

    return ask


def save(place: Path, said: Sequence[str]) -> None:
    """Log the last answer, which includes the conversation before it."""
    import llm
    import sqlite_utils
    from llm.logs import LogStore
    from llm.migrations import migrate

    os.environ["LLM_USER_PATH"] = str(place)
    roles = ("user", "assistant")
    messages = [
        {"role": roles[number % 2], "parts": [{"type": "text", "text": text}]}
        for number, text in enumerate(said)
    ]
    _register(place, "http://127.0.0.1")
    response = llm.Response.from_dict(
        {"model": "bench", "prompt": {"messages": messages[:-1]}, "messages": messages[-1:]}
    )
    response.conversation = llm.Conversation(response.model, id="bench")
    database = sqlite_utils.Database(place / "logs.db")
    migrate(database)
    LogStore(database).log(response)


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Continue the conversation."""
    os.environ["LLM_USER_PATH"] = str(place)
    _register(place, url)

    async def ask(prompt: str) -> str:
        from llm.cli import load_conversation

        conversation = load_conversation("bench", async_=True, database=str(place / "logs.db"))
        return await conversation.prompt(prompt, system=SYSTEM, stream=False).text()

    return ask


def _register(place: Path, url: str) -> None:
    (place / MODEL_FILE).write_text(f"- model_id: bench\n  model_name: bench\n  api_base: {url}\n")


def _model(url: str) -> Any:
    from llm.default_plugins.openai_models import AsyncChat

    model = AsyncChat("bench", model_name="bench", api_base=url, supports_tools=True)
    model.needs_key = None
    return model
