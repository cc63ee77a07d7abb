"""Schedules the redraws of the conversation: up to 30 a second, and none when nothing changes."""

import time
from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget

FRAME_S = 1 / 30
REST_PER_WORK = 3  # after a slow frame, the next is delayed by this factor
MAX_REST_S = 0.25
TICK_S = 1.0


class RedrawScheduler:
    """Schedules frames and, while something is running, ticks."""

    def __init__(self, widget: Widget, frame: Callable[[], None], tick: Callable[[], None]) -> None:
        self._widget = widget
        self._draw = frame
        self._tick = tick
        self._is_due = False
        self._next_frame = 0.0
        self._ticker: Timer | None = None

    def wake(self) -> None:
        """Schedule a frame soon; further calls before that frame have no effect."""
        if not self._is_due and self._widget.is_mounted:
            self._is_due = True
            self._widget.set_timer(max(0.001, self._next_frame - time.monotonic()), self._frame)

    def run(self, *, is_live: bool) -> None:
        """Start or stop ticking."""
        if is_live and self._ticker is None:
            self._ticker = self._widget.set_interval(TICK_S, self._tick)
        elif not is_live and self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    def _frame(self) -> None:
        began = time.thread_time()
        self._is_due = False
        self._draw()
        worked = time.thread_time() - began
        self._next_frame = time.monotonic() + max(FRAME_S, min(MAX_REST_S, REST_PER_WORK * worked))
