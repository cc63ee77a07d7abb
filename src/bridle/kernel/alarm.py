"""A time limit that is put off again and again, at no cost."""

import asyncio
from collections.abc import Callable


class Alarm:
    """Rings at a time that can be changed; a timer for each cell would cost a tenth of a short one."""

    def __init__(self, ring: Callable[[], None]) -> None:
        """Ring by a call, in the event loop."""
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._due_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def set(self, due_s: float) -> None:
        """Ring at this time of the event loop, and at no other."""
        self._due_s = due_s
        if self._timer is None or self._timer.when() > due_s:
            self._arm(due_s)

    def hush(self) -> None:
        """Do not ring; the timer runs on, as it will soon be needed again."""
        self._due_s = None

    def close(self) -> None:
        """Let go of the timer."""
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
