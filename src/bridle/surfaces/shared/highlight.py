"""Python syntax highlighting in one pass, which accepts any text and never fails.

Code that is shown before it runs must not look like something else. So lines end where Python ends them
(also at a lone carriage return, which ends a comment), control characters are shown as escapes, and the
expressions in an f-string are not colored as a string: they run.
"""

import builtins
import keyword
import re
from collections.abc import Iterator
from itertools import chain

from msgspec import Struct

from bridle.surfaces.shared.terminal import Colour, Screen, visible

MAX_PAINTED_CHARS = 200_000  # about 5,000 lines, 0.2 s; the rest is shown without colors

_KEYWORDS = frozenset(keyword.kwlist)
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {"__import__"}

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<prefix>[rbuftRBUFT]{0,2})(?P<quote>'''|\"""|'|")
      | (?P<number>0[xXoObB][0-9a-fA-F_]+
                 | (?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?)
      | (?P<name>[^\W\d]\w*)
      | (?P<other>\s+|[^\w\s.'"\#]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_STRING_ENDS = {
    "'": re.compile(r"\\.|'|\n", re.DOTALL),
    '"': re.compile(r'\\.|"|\n', re.DOTALL),
    "'''": re.compile(r"\\.|'''", re.DOTALL),
    '"""': re.compile(r'\\.|"""', re.DOTALL),
}
_FIELD = re.compile(r"\{\{|\{[^{}]*\}?")
_SOFT_KEYWORD = re.compile(r"(?:match|case)[ \t]+[\w\"'(\[{*-]|type[ \t]+[^\W\d]")


class Piece(Struct, frozen=True):
    """A part of a line and its color."""

    text: str
    colour: Colour | None = None


def paint_pieces(screen: Screen, line: list[Piece]) -> str:
    """Return one scanned line with its colors."""
    return "".join(
        visible(piece.text) if piece.colour is None else screen.paint(piece.colour, piece.text)
        for piece in line
    )


def scan_python(code: str) -> list[list[Piece]]:
    """Split code into lines, and these into pieces of one color each."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    lines: list[list[Piece]] = [[]]
    for piece in chain(_pieces(code[:MAX_PAINTED_CHARS]), [Piece(code[MAX_PAINTED_CHARS:])]):
        first, *others = piece.text.split("\n")
        if first:
            lines[-1].append(Piece(first, piece.colour))
        lines += [[Piece(text, piece.colour)] if text else [] for text in others]
    return lines


def _pieces(code: str) -> Iterator[Piece]:
    place, before, is_first = 0, "", True
    while found := _TOKEN.match(code, place):
        text, place = found[0], found.end()
        match found.lastgroup:
            case "quote":
                place = _string_end(code, place, found["quote"])
                text = code[found.start() : place]
                yield from _string_pieces(text, found["prefix"])
            case "name":
                yield Piece(text, _name_colour(found, before, is_first=is_first))
            case "number":
                yield Piece(text, "number")
            case "comment":
                yield Piece(text, "comment")
            case _:
                yield Piece(text)
        if "\n" in text:
            before, is_first = "", True
        elif not text.isspace():
            before, is_first = text, False


def _string_end(code: str, start: int, quote: str) -> int:
    """Return the end of a string; an unclosed one ends with its line, or with the code."""
    for found in _STRING_ENDS[quote].finditer(code, start):
        if found[0] == "\n":
            return found.start()
        if found[0] == quote:
            return found.end()
    return len(code)


def _string_pieces(text: str, prefix: str) -> Iterator[Piece]:
    place = 0
    if {"f", "t"} & set(prefix.lower()):
        for found in _FIELD.finditer(text):
            if found[0] == "{{":
                continue
            yield Piece(text[place : found.start()], "string")
            yield Piece(found[0])
            place = found.end()
    yield Piece(text[place:], "string")


def _name_colour(found: re.Match[str], before: str, *, is_first: bool) -> Colour | None:
    code, name, start = found.string, found[0], found.start()
    if before in ("def", "class"):
        return "defined"
    if start and code[start - 1] == ".":
        return None
    if name in _KEYWORDS or (is_first and _SOFT_KEYWORD.match(code, start)):
        return "keyword"
    return "builtin" if name in _BUILTINS else None
