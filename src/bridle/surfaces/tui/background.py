"""Whether the terminal is light or dark: told by COLORFGBG, or asked of the terminal itself (OSC 11).

The question is asked before Textual is loaded and the answer read afterwards, so that it costs no time.
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

ANSWER_S = 0.15  # over a slow line the colours are the usual ones
_MAX_BYTES = 4096
_QUESTION = (
    b"\x1b]11;?\x1b\\\x1b[c"  # every terminal answers the second: then the first is not coming any more
)
_COLOUR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
_SEQUENCE = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[@-~]|\x1b.")
_LAST = re.compile(rb"\x1b\[\?[0-9;]*c")


class Background:
    """Asks for the background of the terminal on stdin and stdout."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._told = environ.get("COLORFGBG", "")
        self._modes: list[Any] | None = None
        self.typed = ""
        """What the user has typed meanwhile."""

    def ask(self) -> None:
        """Send the question, unless the environment has the answer."""
        if self._told:
            return
        try:
            descriptor = sys.stdin.fileno()
            self._modes = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor, termios.TCSANOW)
            os.write(sys.stdout.fileno(), _QUESTION)
        except (OSError, ValueError, termios.error):
            self._modes = None

    def is_light(self) -> bool:
        """Return the answer; without one the terminal is taken to be dark."""
        if self._told:
            return is_light_index(self._told)
        if self._modes is None:
            return False
        descriptor = sys.stdin.fileno()
        try:
            answer = _read(descriptor)
            self.typed = typed_in(answer)
            return is_light_answer(answer)
        except OSError:
            return False
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, self._modes)


def is_light_index(text: str) -> bool:
    """Read COLORFGBG, such as `15;0`: the last number is the background."""
    return text.rpartition(";")[2] in ("7", "15")


def is_light_answer(answer: bytes) -> bool:
    """Read what a terminal answers: the parts of its colour in hexadecimal, of any length."""
    found = _COLOUR.search(answer)
    if found is None:
        return False
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5)


def typed_in(answer: bytes) -> str:
    """Return the text that stands between the sequences of a terminal."""
    text = _SEQUENCE.sub(b"", answer).decode(errors="replace")
    return "".join(character for character in text if character.isprintable())


def _read(descriptor: int) -> bytes:
    answer, deadline = b"", time.monotonic() + ANSWER_S
    while len(answer) < _MAX_BYTES and not _LAST.search(answer):
        if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        answer += os.read(descriptor, 256)
    return answer
