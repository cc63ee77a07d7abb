"""Cluster sessions in tests: send prompts, and wait for their effects."""

import asyncio
from contextlib import aclosing
from typing import Any

from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Event, Prompt, Record, RunOptions, ToolFinished
from bridle.core.session_api import SessionApi

PATIENCE_S = 60.0


def bash(command: str) -> dict[str, Any]:
    """Return a reply of a scripted model that runs a command."""
    return {"text": "I work.", "calls": [{"name": "bash", "args": {"command": command}}]}


async def prompted(api: SessionApi, model: str, cwd: object, session: SessionId | None = None) -> SessionId:
    """Send a prompt to a session, or to a new one in a folder; its tools need no approval."""
    session = session or await api.create(cwd=str(cwd))
    await api.submit(session, Prompt(user_message("go"), RunOptions(model=model, mode="yolo")))
    return session


async def until(api: SessionApi, session: SessionId, kind: type[Event], times: int = 1) -> list[Record]:
    """Wait until so many records of a kind are there; returns all that came."""
    seen: list[Record] = []
    try:
        async with asyncio.timeout(PATIENCE_S), aclosing(api.watch(session, 0)) as items:
            async for item in items:
                if isinstance(item, Record):
                    seen.append(item)
                if sum(isinstance(one.event, kind) for one in seen) == times:
                    return seen
    except TimeoutError:
        pass
    raise AssertionError(f"no {kind.__name__} in time, but {seen}")


def results(records: list[Record]) -> list[tuple[str, bool]]:
    """Return the tools that have finished, and whether they failed."""
    finished = [one.event.result for one in records if isinstance(one.event, ToolFinished)]
    return [(result.name, result.is_error) for result in finished]
