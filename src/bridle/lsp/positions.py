"""Converts between paths and URIs, and between our positions and those of servers.

We count lines and columns from 1, columns in characters. Servers count from 0, columns in units of the
negotiated encoding: for most of them UTF-16, in which a character may take two units.
"""

import os
import re
from typing import Literal
from urllib.parse import quote, unquote_to_bytes, urlsplit

from bridle.core.language_servers import Span
from bridle.lsp.protocol import Position, Range

Encoding = Literal["utf-8", "utf-16", "utf-32"]
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-32", "utf-16")
"""In our order of preference."""

_LINE_END = re.compile(r"\r\n|\n|\r")
_MAX_URI = 16 * 1024


def to_uri(path: str) -> str:
    """Return the URI of an absolute path."""
    return "file://" + quote(os.fsencode(path), safe="/")


def to_path(uri: str) -> str | None:
    """Return the path of a URI; None if it is not a plain path on this machine."""
    if len(uri) > _MAX_URI:
        return None
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
        return None
    raw = unquote_to_bytes(parts.path)
    path = os.fsdecode(raw)
    if not path.startswith("/") or path.startswith("//") or "\0" in path or os.path.normpath(path) != path:
        return None
    return path


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies below it; both must have their links resolved."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class TextSource:
    """A text, split into lines the way LSP does it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        self._ends: list[int] = []
        for found in _LINE_END.finditer(text):
            self._ends.append(found.start())
            self._starts.append(found.end())
        self._ends.append(len(text))

    def __len__(self) -> int:
        """Return the number of lines; the last one may be empty."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """Return a line, counted from 0, without its line break; empty beyond the last line."""
        if not 0 <= number < len(self._starts):
            return ""
        return self.text[self._starts[number] : self._ends[number]]

    def offset(self, position: Position, encoding: Encoding) -> int:
        """Return the character offset of a position; one beyond a line's end is clamped to that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        line = self.line(position.line)
        return self._starts[position.line] + to_characters(line, position.character, encoding)

    def position(self, line: int, column: int, encoding: Encoding) -> Position:
        """Return our line and column, counted from 1, as an LSP position."""
        return Position(line - 1, to_units(self.line(line - 1), column - 1, encoding))

    def span(self, path: str, place: Range, encoding: Encoding) -> Span:
        """Return an LSP range as a span in our counting."""
        (line, column), (end_line, end_column) = (
            self._place(place.start, encoding),
            self._place(max(place.start, place.end), encoding),
        )
        return Span(path, line, column, end_line, end_column)

    def _place(self, position: Position, encoding: Encoding) -> tuple[int, int]:
        if position.line >= len(self._starts):
            return len(self._starts), len(self.line(len(self._starts) - 1)) + 1
        return position.line + 1, to_characters(self.line(position.line), position.character, encoding) + 1


def span_as_ascii(path: str, place: Range) -> Span:
    """Return a range as a span without reading the file, as if all its lines were ASCII."""
    end = max(place.start, place.end)
    return Span(path, place.start.line + 1, place.start.character + 1, end.line + 1, end.character + 1)


def to_units(line: str, characters: int, encoding: Encoding) -> int:
    """Return how many units the first `characters` of a line take."""
    before = line[: max(characters, 0)]
    if encoding == "utf-32" or before.isascii():
        return len(before)
    if encoding == "utf-16":
        return len(before) + sum(char > "\uffff" for char in before)
    return len(before.encode(errors="surrogatepass"))


def to_characters(line: str, units: int, encoding: Encoding) -> int:
    """Return how many whole characters the first `units` of a line hold; at most all of them."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    left = units
    for count, char in enumerate(line):
        left -= _width(char, encoding)
        if left < 0:
            return count
    return len(line)


def _width(char: str, encoding: Encoding) -> int:
    if encoding == "utf-16":
        return 2 if char > "\uffff" else 1
    code = ord(char)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
