"""Shared by the hook tests: scripts on disk, a fixed clock, a round of calls."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bridle.core.hook import (
    CommandRuntime,
    HookEntry,
    HookInvocation,
    HookOverride,
    HookPoint,
    HttpRuntime,
    InProcessRuntime,
    ToolCallView,
    ToolResultView,
)
from bridle.core.ids import CallId, SessionId
from bridle.core.ports import HookEvent, HookRound
from bridle.core.protocol import HookStarted
from bridle.hooks.factory import HookEnvironment, create_hooks
from bridle.hooks.function_hooks import Handler
from tests.patience import PATIENCE_S
from tests.shebang import shebang

ENVIRON = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nowhere",
    "LANG": "C.UTF-8",
    "OPENAI_API_KEY": "sk",
}
PATIENCE_MS = 15_000  # far more than any of these hooks takes, also on a busy machine

CALL = ToolCallView(CallId("c1"), "bash", {"command": "ls"})
RESULT = ToolResultView(CallId("c1"), "bash", "a.txt", is_error=False)


class StillClock:
    """No time passes."""

    def now_ms(self) -> int:
        """Return the beginning of time."""
        return 0

    def monotonic_s(self) -> float:
        """Return the same each time, so that durations are zero."""
        return 0.0


def told(point: HookPoint = "pre_tool_execution", **more: Any) -> HookInvocation:
    """Return an invocation, by default of a call."""
    if point == "pre_tool_execution":
        more.setdefault("tool_call", CALL)
    if point == "post_tool_execution":
        more.setdefault("tool_result", RESULT)
    return HookInvocation(point, SessionId("s"), 1, **more)


def calling(name: str, **more: Any) -> HookEntry:
    """Return an entry for a function, whose id is its name."""
    return HookEntry(InProcessRuntime(name), **{"id": name, "point": "pre_tool_execution", **more})


def running(command: str | Path, *args: str, env: Mapping[str, str] = {}, **more: Any) -> HookEntry:
    """Return an entry for a program."""
    dialect = more.pop("dialect", "bridle")
    runtime = CommandRuntime(str(command), args, dict(env), dialect)
    return HookEntry(runtime, **{"id": "guard", **_GUARD, **more})


def posting(url: str, **more: Any) -> HookEntry:
    """Return an entry for a server."""
    headers = more.pop("headers", {})
    return HookEntry(HttpRuntime(url, headers=headers), **{"id": "guard", **_GUARD, **more})


_GUARD = {"point": "pre_tool_execution", "capability": "guardrail", "timeout_ms": PATIENCE_MS}


def site(cwd: str | Path = "/", handlers: Mapping[str, Handler] = {}, **more: Any) -> HookEnvironment:
    """Return where hooks run."""
    return HookEnvironment(str(cwd), ENVIRON, StillClock(), handlers, **more)


def script(folder: Path, body: str, name: str = "hook") -> Path:
    """Write a program in Python and return its path; `tell(answer)` and `told` are there for it."""
    path = folder / name
    path.write_text(f"{shebang(options='-IS')}{_PRELUDE}{body}\n")
    path.chmod(0o755)
    return path


_PRELUDE = """
import json, os, signal, sys, time
def tell(answer): sys.stdout.write(json.dumps(answer)); sys.stdout.flush()
def told(): return json.load(sys.stdin)
"""


async def asked(
    entries: Sequence[HookEntry], invocation: HookInvocation | None = None, at: HookEnvironment | None = None
) -> HookRound:
    """Ask once and close."""
    hooks = create_hooks(entries, HookOverride(), at or site())
    try:
        return await hooks.ask(invocation or told(), _unseen)
    finally:
        await hooks.aclose()


class Pipe:
    """A named pipe that a program writes to, so that a test can wait for it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    async def read(self) -> str:
        """Wait for a text."""
        await readable(self._descriptor)
        return os.read(self._descriptor, 4096).decode()

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)


async def gone(pid: int) -> None:
    """Wait for the end of a process that was killed."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await readable(watched)
    finally:
        os.close(watched)


async def readable(descriptor: int) -> None:
    """Wait until there is something to read."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await ready.wait()
    finally:
        loop.remove_reader(descriptor)


def _unseen(started: HookStarted) -> None:
    """Serve without a watcher."""


def kinds(events: Sequence[HookEvent]) -> list[str]:
    """Return the names of events."""
    return [type(event).__name__ for event in events]
