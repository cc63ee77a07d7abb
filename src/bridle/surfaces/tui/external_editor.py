"""Runs the user's editor, and quits on a signal."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from bridle.surfaces.shared.editor import run_editor

MAX_BYTES = 4 * 1024 * 1024
LEAVE_S = {signal.SIGTERM: 15, signal.SIGHUP: 5}
"""Seconds to cancel the runs of this process and record their ends."""


def edit_text(text: str, environ: Mapping[str, str], cwd: str) -> str:
    """Edit a text in $VISUAL or $EDITOR and return the result; raises BridleError on failure."""
    with tempfile.TemporaryDirectory(prefix="bridle-") as folder:
        file = Path(folder) / "prompt.md"
        file.write_text(f"{text}\n" if text else "", encoding="utf-8")
        run_editor([os.fspath(file)], environ, cwd)
        return file.read_bytes()[:MAX_BYTES].decode(errors="replace").rstrip("\n")


def quit_on_signal(leave: Callable[[], None]) -> None:
    """Quit cleanly on SIGTERM and SIGHUP, so that the terminal's modes are restored.

    If the terminal is gone, a write to it can block the loop for ever; then an alarm ends the process.
    """
    loop = asyncio.get_running_loop()

    def handle(number: int, _: object) -> None:
        signal.alarm(LEAVE_S[signal.Signals(number)])
        loop.call_soon_threadsafe(leave)

    for number in LEAVE_S:
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, handle)
