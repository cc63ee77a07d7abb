"""Bridle through its Python interface; in all rows, it stores every step in SQLite."""

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from peers_play import SYSTEM

NAME = "Bridle"
PACKAGES = ("bridle",)
BEST = "bridle.open with a home: streams, and stores every step in SQLite; no built-in tools"
STORE = "its SQLite store"
SESSION = "bench"
WINDOW_TOKENS = 1_000_000


def run(url: str, tools: Sequence[Callable[..., Any]]) -> Callable[[str], Awaitable[str]]:
    """Run each conversation in a new session."""
    opened = _Opened(url, tempfile.mkdtemp(), tools)

    async def ask(prompt: str) -> str:
        session = await (await opened.bridle()).session()
        return str((await session.run(prompt)).text)

    return ask


def stream(url: str) -> Callable[[str], Awaitable[int]]:
    """Count the fragments that a watcher gets."""
    opened = _Opened(url, tempfile.mkdtemp(), ())

    async def ask(prompt: str) -> int:
        from bridle import TextDelta

        session = await (await opened.bridle()).session()
        async with session.stream(prompt) as run:
            return sum([isinstance(item, TextDelta) async for item in run])

    return ask


async def save(place: Path, said: Sequence[str]) -> None:
    """Run the first and the last prompt, and append the events of the runs between them."""
    import bridle
    from bridle.providers import ScriptedProvider
    from bridle.sessions.system_clock import SystemClock
    from bridle.stores.sqlite import SqliteStore

    async def have_run(prompt: str) -> Sequence[Any]:
        model = ScriptedProvider.of(said[1], repeat=True)
        async with bridle.open(
            home=place, cwd=place, providers={"fake": model}, model="fake/any", builtins=False, system=SYSTEM
        ) as opened:
            session = await opened.session(SESSION)
            await session.run(prompt)
            return [record.event for record in await session.records()]

    created, *events = await have_run(said[0])
    between = [
        _changed(event, f"run-{number}", said[number], said[number + 1])
        for number in range(2, len(said) - 2, 2)
        for event in events
    ]
    store = SqliteStore(place / "bridle.db", SystemClock())
    await store.append(created.session_id, 1 + len(events), between)
    await store.aclose()
    await have_run(said[-2])


def resume(url: str, place: Path) -> Callable[[str], Awaitable[str]]:
    """Continue the stored session."""
    opened = _Opened(url, str(place), ())

    async def ask(prompt: str) -> str:
        session = await (await opened.bridle()).session(SESSION)
        return str((await session.run(prompt)).text)

    return ask


def _changed(event: Any, run_id: str, asked: str, answered: str) -> Any:
    """Return an event of one run with the ids of another."""
    from msgspec.structs import replace

    from bridle import Message, MessageAdded, ModelReplied, RunEnded, Text

    match event:
        case MessageAdded():
            return replace(event, message=Message("user", (Text(asked),)))
        case ModelReplied():
            return replace(event, run_id=run_id, message=Message("assistant", (Text(answered),)))
        case RunEnded():
            return replace(event, run_id=run_id, text=answered)
    return replace(event, run_id=run_id) if hasattr(event, "run_id") else event


class _Opened:
    """Bridle, opened on first use and left open until the process ends."""

    def __init__(self, url: str, home: str, tools: Sequence[Callable[..., Any]]) -> None:
        self._url = url
        self._home = home
        self._tools = tools
        self._bridle: Any = None

    async def bridle(self) -> Any:
        if self._bridle is None:
            import bridle

            provider = {"kind": "openai", "base_url": self._url, "window_tokens": WINDOW_TOKENS}
            self._bridle = bridle.open(
                home=self._home,
                cwd=self._home,
                model="bench/bench",
                system=SYSTEM,
                tools=[bridle.tool(tool) for tool in self._tools],
                builtins=False,
                settings={"providers": {"bench": provider}},
            )
            await self._bridle.__aenter__()
        return self._bridle
