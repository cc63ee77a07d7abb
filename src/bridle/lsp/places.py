"""Where things are: addresses of files, and positions in a text for us and for servers.

We count lines and columns from 1, columns in characters. Servers count from 0, columns in units of the
encoding that was agreed on: for most of them UTF-16, in which a character may take two.
"""

import os
import re
from typing import Literal
from urllib.parse import quote, unquote_to_bytes, urlsplit

from bridle.core.languages import Span
from bridle.lsp.wire import Position, Range

Encoding = Literal["utf-8", "utf-16", "utf-32"]
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-32", "utf-16")
"""In the order in which we like them."""

_LINE_END = re.compile(r"\r\n|\n|\r")
_MAX_URI = 16 * 1024


def to_uri(path: str) -> str:
    """Return the address of an absolute path."""
    return "file://" + quote(os.fsencode(path), safe="/")


def to_path(uri: str) -> str | None:
    """Return the path that an address stands for; None if it is no plain path on this machine."""
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
    """Tell whether a path is a folder or lies below it; both must be free of links."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Source:
    """A text, cut into lines as the protocol cuts them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        self._ends: list[int] = []
        for found in _LINE_END.finditer(text):
            self._ends.append(found.start())
            self._starts.append(found.end())
        self._ends.append(len(text))

    def __len__(self) -> int:
        """Return how many lines there are; a last one may be empty."""
        return len(self._starts)

    def line(self, number: int) -> str:
        """Return a line, counted from 0, without its end; empty beyond the last one."""
        if not 0 <= number < len(self._starts):
            return ""
        return self.text[self._starts[number] : self._ends[number]]

    def offset(self, position: Position, encoding: Encoding) -> int:
        """Return how many characters stand before a position; one beyond a line's end is its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        line = self.line(position.line)
        return self._starts[position.line] + to_characters(line, position.character, encoding)

    def position(self, line: int, column: int, encoding: Encoding) -> Position:
        """Return a place of ours, counted from 1, as a server counts."""
        return Position(line - 1, to_units(self.line(line - 1), column - 1, encoding))

    def span(self, path: str, place: Range, encoding: Encoding) -> Span:
        """Return a stretch of a server's as we count."""
        (line, column), (end_line, end_column) = (
            self._place(place.start, encoding),
            self._place(max(place.start, place.end), encoding),
        )
        return Span(path, line, column, end_line, end_column)

    def _place(self, position: Position, encoding: Encoding) -> tuple[int, int]:
        if position.line >= len(self._starts):
            return len(self._starts), len(self.line(len(self._starts) - 1)) + 1
        return position.line + 1, to_characters(self.line(position.line), position.character, encoding) + 1


def blind_span(path: str, place: Range) -> Span:
    """Return a stretch of a file that we do not read, as if all of it were ASCII."""
    end = max(place.start, place.end)
    return Span(path, place.start.line + 1, place.start.character + 1, end.line + 1, end.character + 1)


def to_units(line: str, characters: int, encoding: Encoding) -> int:
    """Return how many units the first characters of a line take."""
    before = line[: max(characters, 0)]
    if encoding == "utf-32" or before.isascii():
        return len(before)
    if encoding == "utf-16":
        return len(before) + sum(char > "\uffff" for char in before)
    return len(before.encode(errors="surrogatepass"))


def to_characters(line: str, units: int, encoding: Encoding) -> int:
    """Return how many whole characters of a line the first units hold; at most all of them."""
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
