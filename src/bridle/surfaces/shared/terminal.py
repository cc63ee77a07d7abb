"""The output streams of a command: with optional color, and safe from control characters in the output.

Text from a model, a file or a stored session can contain escape sequences that recolor, overwrite or
retitle a terminal. All output of a command passes through a `EditorClient`, which shows every such character
as its escape, `\\x1b`: a command that forgets to clean a name cannot let it through. Only text written
with `data` stays unchanged in a file or a pipe.
"""

import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from typing import Literal, TextIO

from msgspec import Struct

Colour = Literal[
    "done",
    "failed",
    "warning",
    "name",
    "detail",
    "strong",
    "added",
    "removed",
    "keyword",
    "string",
    "number",
    "comment",
    "defined",
    "builtin",
]

COLOURS: dict[Colour, str] = {
    "done": "32",
    "failed": "31",
    "warning": "33",
    "name": "36",
    "detail": "2",
    "strong": "1",
    "added": "32",
    "removed": "31",
    "keyword": "35",
    "string": "32",
    "number": "33",
    "comment": "2",
    "defined": "1;34",
    "builtin": "36",
}

DEFAULT_WIDTH = 80

_BIDI = [  # they reorder text, so a diff could mislead
    *(0x061C, 0x200E, 0x200F),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
]
_UNSEEN = [0x200B, *range(0x2060, 0x2065), 0xFEFF]  # without joiners, which some scripts and emoji need
_TAGS = range(0xE0000, 0xE0080)  # a whole text can be hidden in them
_CONTROLS = [*(c for c in range(0x20) if c not in (0x09, 0x0A)), *range(0x7F, 0xA0)]
_VISIBLE = (
    {c: f"\\x{c:02x}" for c in _CONTROLS}
    | {c: f"\\u{c:04x}" for c in [*_BIDI, *_UNSEEN]}
    | {c: f"\\U{c:08x}" for c in _TAGS}
)
_VISIBLE_JSON = {c: f"\\u{c:04x}" for c in [*_CONTROLS, *_BIDI, *_UNSEEN] if c >= 0x7F} | {
    c: f"\\udb40\\u{0xDC00 + c - _TAGS.start:04x}" for c in _TAGS
}


_COLOURING = re.compile(r"(\x1b\[[0-9;]*m)")
_PAINTED = frozenset({"\x1b[0m", *(f"\x1b[{code}m" for code in COLOURS.values())})


def visible(text: str) -> str:
    """Return a text with control characters shown as escapes; newlines and tabs stay."""
    return text.translate(_VISIBLE)


def visible_json(text: str) -> str:
    """Escape the control characters that JSON allows in a string; the value stays the same."""
    return text.translate(_VISIBLE_JSON)


def one_line(text: str) -> str:
    """Return a text on one line: whitespace becomes single spaces, control characters become escapes."""
    return visible(" ".join(text.split()))


def columns(text: str) -> int:
    """Return how many screen cells a line takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def cut(text: str, width: int) -> str:
    """Shorten a line to a number of cells, with an ellipsis at the end if something is cut."""
    if columns(text) <= width:
        return text
    used = kept = 0
    for character in text:
        used += _cells(character)
        if used > width - 1:
            break
        kept += 1
    return text[:kept].rstrip() + "…" if width > 0 else ""


def cut_start(text: str, width: int) -> str:
    """Shorten a line to a number of cells, with an ellipsis at the start if something is cut."""
    return text if columns(text) <= width else cut(text[::-1], width)[::-1]


def pad(text: str, width: int) -> str:
    """Pad a line with spaces to a number of cells."""
    return text + " " * (width - columns(text))


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    """One output stream: whether it is a terminal, and whether it supports color."""

    def __init__(self, file: TextIO, environ: Mapping[str, str]) -> None:
        self.file = file
        self.is_terminal = file.isatty()
        self.coloured = wants_colour(environ, is_terminal=self.is_terminal)
        self.erases = self.is_terminal and environ.get("TERM", "dumb") != "dumb"
        """True if a line can be erased again."""

    def paint(self, colour: Colour, text: str) -> str:
        """Return a text in color if this stream supports it; control characters in it are made visible."""
        text = visible(text)
        return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if self.coloured and text else text

    def write(self, text: str) -> None:
        """Write a text; of control characters, only the colors of `paint` are kept."""
        self.file.write(self._cleaned(text))

    def line(self, text: str = "") -> None:
        """Write a text as `write` does, and end the line."""
        self.file.write(self._cleaned(text) + "\n")

    def erase(self) -> None:
        """Erase the last unfinished line; only valid if `erases` is true."""
        self.file.write("\r\x1b[K")

    def data(self, text: str) -> None:
        """Write external text: unchanged to a file or pipe, made safe on a terminal."""
        self.file.write(visible(text) if self.is_terminal else text)

    def json(self, encoded: bytes) -> None:
        """Write one line of JSON, in UTF-8 regardless of the locale."""
        if self.is_terminal:
            self.file.write(visible_json(encoded.decode()) + "\n")
            return
        self.file.flush()
        self.file.buffer.write(encoded + b"\n")

    def _cleaned(self, text: str) -> str:
        if not self.coloured or "\x1b" not in text:
            return visible(text)
        return "".join(part if part in _PAINTED else visible(part) for part in _COLOURING.split(text))

    def flush(self) -> None:
        """Flush all output."""
        self.file.flush()

    @property
    def width(self) -> int:
        """The screen's width in cells."""
        try:
            return os.get_terminal_size(self.file.fileno()).columns or DEFAULT_WIDTH
        except (OSError, ValueError):
            return DEFAULT_WIDTH


class Console(Struct, frozen=True):
    """The output streams and environment of a command."""

    out: Screen
    """Data."""
    err: Screen
    """Everything else."""
    environ: dict[str, str]

    def warn(self, message: str) -> None:
        """Write a one-line warning."""
        self.err.line(self.err.paint("warning", f"warning: {message}"))

    def fail(self, message: str, hint: str = "") -> None:
        """Write an error, and a hint if there is one."""
        self.err.line(self.err.paint("failed", f"error: {message}"))
        self.hint(hint)

    def hint(self, hint: str) -> None:
        """Write a hint, if it is not empty."""
        if hint:
            self.err.line(f"hint: {visible(hint)}")

    def done(self, message: str) -> None:
        """Confirm a change, if stderr is a terminal."""
        if self.err.is_terminal:
            self.err.line(self.err.paint("done", message))


def wants_colour(environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Decide on color: NO_COLOR first, then FORCE_COLOR, then whether it is a terminal."""
    if environ.get("NO_COLOR"):
        return False
    if forced := environ.get("FORCE_COLOR"):
        return forced != "0"
    return is_terminal and environ.get("TERM") != "dumb"


def open_console(environ: Mapping[str, str]) -> Console:
    """Return the process's own streams; output to a closed one is discarded."""
    return Console(_screen(sys.stdout, environ), _screen(sys.stderr, environ), dict(environ))


def _screen(file: TextIO | None, environ: Mapping[str, str]) -> Screen:
    if file is None:
        file = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  lives as long as the process
    if hasattr(file, "reconfigure") and file.encoding.lower() not in ("utf-8", "utf8"):
        file.reconfigure(errors="replace")  # a locale without "…" must not end a run
    return Screen(file, environ)
