"""The terminal around the app: its background, title, notifications, the external editor, and signals.

The background is light or dark according to COLORFGBG, or to a query (OSC 11) that is sent before Textual is
imported; its reply is read afterwards, so it costs no time.
"""

import asyncio
import os
import re
import select
import signal
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from bridle.surfaces.shared.editor import run_editor
from bridle.surfaces.shared.terminal import cut, one_line

ANSWER_S = 0.15  # on a slower connection the default colors apply
_MAX_BYTES = 4096
_QUESTION = (
    b"\x1b]11;?\x1b\\\x1b[c"  # all terminals answer the second query; its reply ends the wait for the first
)
_COLOUR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
_SEQUENCE = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[@-~]|\x1b.")
_LAST = re.compile(rb"\x1b\[\?[0-9;]*c")


class BackgroundQuery:
    """Queries the background color of the terminal on stdin and stdout."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._colorfgbg = environ.get("COLORFGBG", "")
        self._modes: list[Any] | None = None
        self.typed = ""
        """Text the user typed while the reply was pending."""

    def ask(self) -> None:
        """Send the query, unless COLORFGBG is set."""
        if self._colorfgbg:
            return
        try:
            descriptor = sys.stdin.fileno()
            self._modes = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor, termios.TCSANOW)
            os.write(sys.stdout.fileno(), _QUESTION)
        except (OSError, ValueError, termios.error):
            self._modes = None

    def is_light(self) -> bool:
        """Return True for a light background; without a reply, assume dark."""
        if self._colorfgbg:
            return is_light_index(self._colorfgbg)
        if self._modes is None:
            return False
        descriptor = sys.stdin.fileno()
        try:
            answer = _read(descriptor)
            self.typed = printable_text(answer)
            return is_light_answer(answer)
        except OSError:
            return False
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, self._modes)


def is_light_index(text: str) -> bool:
    """Parse COLORFGBG, such as `15;0`: the last number is the background."""
    return text.rpartition(";")[2] in ("7", "15")


def is_light_answer(answer: bytes) -> bool:
    """Parse a terminal's OSC 11 reply: hexadecimal color components of any length."""
    found = _COLOUR.search(answer)
    if found is None:
        return False
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5)


def printable_text(answer: bytes) -> str:
    """Return the printable text between a terminal's escape sequences."""
    text = _SEQUENCE.sub(b"", answer).decode(errors="replace")
    return "".join(character for character in text if character.isprintable())


def _read(descriptor: int) -> bytes:
    answer, deadline = b"", time.monotonic() + ANSWER_S
    while len(answer) < _MAX_BYTES and not _LAST.search(answer):
        if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        answer += os.read(descriptor, 256)
    return answer


# ---------------------------------------------------------------------------- notifications and title


Notify = Literal["off", "bell", "osc9", "osc777"]

MAX_CELLS = 120
_BELL = "\a"


def notification_sequence(how: Notify, title: str, body: str) -> str:
    """Return the escape sequence of a notification; no text can end the sequence or start another."""
    title, body = _plain(title), _plain(body)
    match how:
        case "off":
            return ""
        case "bell":
            return _BELL
        case "osc9":
            return f"{_BELL}\x1b]9;{title}: {body}\x1b\\"
        case "osc777":
            return f"{_BELL}\x1b]777;notify;{title};{body}\x1b\\"


def window_title(title: str) -> str:
    """Return the sequence that sets the terminal's window title; an empty title restores the original."""
    if not title:
        return "\x1b[23;2t"
    return f"\x1b]2;{_plain(title)}\x1b\\"


SAVE_TITLE = "\x1b[22;2t"


def _plain(text: str) -> str:
    return cut(one_line(text), MAX_CELLS).replace(";", ",")


# ---------------------------------------------------------------------------- editor and signals


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
