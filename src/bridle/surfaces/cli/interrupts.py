"""Ctrl-C handling: the first press requests a cancel, the second ends the process at once."""

import asyncio
import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

from bridle.surfaces.output_format import EXIT_CODES


class Interrupts:
    """Handles SIGINT while a run is followed; restores the previous handler afterwards."""

    def __init__(self, on_first: Callable[[], None], before_quitting: Callable[[], None]) -> None:
        self._on_first = on_first
        self._before_quitting = before_quitting
        self._loop = asyncio.get_running_loop()
        self._pressed = False
        self._before: signal.Handlers | int | Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is not signal.SIG_IGN:  # a background job of a shell must not be interrupted
            signal.signal(signal.SIGINT, self._pressed_key)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _pressed_key(self, number: int, frame: FrameType | None) -> None:
        # A handler of the signal module, not of the event loop: it works even while the loop is stuck.
        if self._pressed:
            self._before_quitting()
            os._exit(EXIT_CODES["cancelled"])
        self._pressed = True
        self._loop.call_soon_threadsafe(self._on_first)
