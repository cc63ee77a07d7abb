"""What comes from outside of the screen: an editor of the user's own, and the word to end."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from bridle.surfaces.editor import run_editor

MAX_BYTES = 4 * 1024 * 1024
LEAVE_S = {signal.SIGTERM: 15, signal.SIGHUP: 5}
"""In which runs of this process are cancelled and their ends recorded."""


def write_elsewhere(text: str, environ: Mapping[str, str], cwd: str) -> str:
    """Return a text as it was left in $VISUAL or $EDITOR; raises BridleError when it did not work."""
    with tempfile.TemporaryDirectory(prefix="bridle-") as folder:
        file = Path(folder) / "prompt.md"
        file.write_text(f"{text}\n" if text else "", encoding="utf-8")
        run_editor([os.fspath(file)], environ, cwd)
        return file.read_bytes()[:MAX_BYTES].decode(errors="replace").rstrip("\n")


def leave_when_told(leave: Callable[[], None]) -> None:
    """Leave in an orderly way when the process is told to end: the terminal must be as it was before.

    Where the terminal is gone, writing to it can hold up the loop for ever: then an alarm ends the process.
    """
    loop = asyncio.get_running_loop()

    def told(number: int, _: object) -> None:
        signal.alarm(LEAVE_S[signal.Signals(number)])
        loop.call_soon_threadsafe(leave)

    for number in LEAVE_S:
        with suppress(ValueError):  # of a loop that is not in the main thread
            signal.signal(number, told)
