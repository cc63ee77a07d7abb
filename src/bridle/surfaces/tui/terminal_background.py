"""Detects a light or dark terminal background: from COLORFGBG, or by querying the terminal (OSC 11).

The query is sent before Textual is imported and its reply is read afterwards, so it costs no time.
"""

import os
import re
import select
import sys
import termios
import time
import tty
from collections.abc import Mapping
from typing import Any

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
