"""Helpers for asyncio tasks."""

import asyncio
from collections.abc import Coroutine


def is_cancelled() -> bool:
    """Return True if this task itself was cancelled.

    False if a CancelledError only came out of awaited code, for example from another, cancelled task.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


# ---------------------------------------------------------------------------- background task
# Work that a session does in the background: a compaction, which may take long and can be cancelled.


CLOSE_TIMEOUT_S = 5.0  # work that ignores its cancellation delays closing no longer than this


class BackgroundTask:
    """Runs one background task at a time."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def is_active(self) -> bool:
        """True while the task runs."""
        return self._task is not None and not self._task.done()

    def begin(self, work: Coroutine[None, None, None]) -> None:
        """Start a task; the previous one must be over."""
        self._task = asyncio.create_task(work)

    def cancel(self) -> None:
        """Request cancellation of the task, without waiting."""
        if self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """Cancel the task and wait for its end, at most `CLOSE_TIMEOUT_S`."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE_TIMEOUT_S)
