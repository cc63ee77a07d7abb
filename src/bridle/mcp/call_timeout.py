"""The time limit of a call: progress restarts it, and time spent waiting for a person does not count."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from bridle.core.ports import ToolContext
from bridle.mcp.server_log import clean_line

MAX_EXTENSIONS = 10
"""A call that keeps reporting progress ends after this many times its limit."""
SETTLE_S = 0.1  # a cancelled run must have settled after 0.15 s

_SHOW_EVERY_S = 0.1
_MAX_MESSAGE_CHARS = 200

T = TypeVar("T")


class CallTimeout:
    """The time left for one call."""

    def __init__(self, limit_s: float, emit: Callable[[str], None]) -> None:
        self._limit_s = limit_s
        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self._until_s = self._loop.time() + limit_s
        self._cap_s = self._loop.time() + MAX_EXTENSIONS * limit_s
        self._rests = 0
        self._shown_s = 0.0
        self._last = ""

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Restart the limit after a progress report, and show the report unless one was shown just now."""
        now_s = self._loop.time()
        self._until_s = min(now_s + self._limit_s, self._cap_s)
        line = _line(progress, total, message)
        if line != self._last and now_s - self._shown_s >= _SHOW_EVERY_S:
            self._shown_s = now_s
            self._last = line
            self._emit(line + "\n")

    def pausing(self, context: ToolContext) -> ToolContext:
        """Return a context in which time spent waiting for the user or the model does not count."""
        ask, sample = context.ask, context.sample
        return replace(
            context,
            ask=ask and (lambda question: self._resting(ask(question))),
            sample=sample and (lambda wanted: self._resting(sample(wanted))),
        )

    async def wait(self, task: "asyncio.Task[Any]") -> bool:
        """Wait for a task; False if its time is up. An unfinished task is cancelled, also if the wait is."""
        try:
            while not task.done():
                left_s = self._limit_s if self._rests else self._until_s - self._loop.time()
                if left_s <= 0:
                    break
                await asyncio.wait([task], timeout=left_s)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=SETTLE_S)
        return not task.cancelled() and task.done()

    async def _resting(self, awaited: Awaitable[T]) -> T:
        began_s = self._loop.time()
        self._rests += 1
        try:
            return await awaited
        finally:
            self._rests -= 1
            self._cap_s += self._loop.time() - began_s
            self._until_s = min(self._loop.time() + self._limit_s, self._cap_s)


def _line(done: float, total: float | None, message: str | None) -> str:
    amount = f"{min(100.0, max(0.0, 100 * done / total)):.0f} %" if total and total > 0 else f"{done:g}"
    return f"{amount} {clean_line(message or '', _MAX_MESSAGE_CHARS)}".strip()
