"""Run blocking work in a thread beside the event loop, with a way to stop it."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import TypeVar

T = TypeVar("T")

_GRACE_S = 0.15  # a cancelled run must end within 0.2 s


async def run_in_thread(
    work: Callable[[Event], T],
    *,
    deadline_s: float | None = None,
    on_stop: Callable[[], None] | None = None,
) -> T:
    """Run `work` in a thread and return its result.

    `work` gets an event that is set at the deadline and when the caller is cancelled. It should then
    return what it has and change nothing more. A cancelled caller waits at most `_GRACE_S` for that.
    `on_stop` is called right after the event is set; it can end whatever `work` is waiting for.
    """
    stop = Event()
    future = asyncio.get_running_loop().run_in_executor(None, work, stop)
    future.add_done_callback(_retrieve)

    def tell() -> None:
        stop.set()
        if on_stop is not None:
            on_stop()

    try:
        await asyncio.wait([future], timeout=deadline_s)
        if not future.done():
            tell()
        await asyncio.wait([future])
    except asyncio.CancelledError:
        tell()
        await asyncio.wait([future], timeout=_GRACE_S)
        raise
    return future.result()


def _retrieve(future: "asyncio.Future[T]") -> None:
    """Retrieve the error of abandoned work; otherwise asyncio logs that it was never retrieved."""
    if not future.cancelled():
        future.exception()
