"""A timer whose deadline can be moved often at no cost."""

import asyncio
from collections.abc import Callable


class Alarm:
    """Calls a function at a deadline that can move; a timer per cell would cost a tenth of a short cell."""

    def __init__(self, ring: Callable[[], None]) -> None:
        """Call `ring` in the event loop when the deadline passes."""
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._due_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def set(self, due_s: float) -> None:
        """Set the deadline, in event loop time; it replaces the previous one."""
        self._due_s = due_s
        if self._timer is None or self._timer.when() > due_s:
            self._arm(due_s)

    def clear(self) -> None:
        """Clear the deadline; the timer keeps running, because it is soon needed again."""
        self._due_s = None

    def close(self) -> None:
        """Cancel the timer."""
        self._due_s = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, due_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due_s, self._wake)

    def _wake(self) -> None:
        self._timer = None
        if self._due_s is None:
            return
        if self._loop.time() < self._due_s:
            self._arm(self._due_s)
            return
        self._due_s = None
        self._ring()
