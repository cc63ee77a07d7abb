"""Styled text, and how it is wrapped into lines of a given width.

A flow is text without a width: a paragraph, a line of code, a row of a card. Wrapping a flow gives lines. A
line stores what separated it from the previous line, and how many of its first characters are decoration
(bars, numbers, indentation); so copying yields the original text, not its wrapping.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from rich.cells import cell_len, split_graphemes

from bridle.surfaces.shared.terminal import visible

Piece = tuple[str, str]
"""A text and its ink."""
Pieces = tuple[Piece, ...]
Join = Literal["\n", " ", ""]

TAB_CELLS = 4
MAX_FLOW_CHARS = 20_000  # of one paragraph or line; the rest is cut off, with a note
CUT_MARK = "…"
WRAP_MARK = "↪"

_SURROGATES = re.compile("[\ud800-\udfff]")  # they cannot be written to a terminal


class Line(Struct, eq=False):
    """One screen line."""

    pieces: Pieces
    margin: int = 0
    """How many of its first characters are decoration."""
    join: Join = "\n"
    """What separated it from the previous line."""
    folds: bool = False
    """True if a click on it opens or closes the item."""

    @property
    def text(self) -> str:
        """The text of the line."""
        return "".join(text for text, _ in self.pieces)


class Flow(Struct, frozen=True):
    """A piece of text that is not wrapped yet."""

    pieces: Pieces
    lead: Pieces = ()
    """Prefix of its first line."""
    hang: Pieces = ()
    """Prefix of the other lines."""
    mode: Literal["words", "letters", "cut", "rule"] = "words"
    """Wrap between words or anywhere; cut to one line; or one line, filled with a horizontal rule."""
    folds: bool = False


def sanitize(text: str) -> str:
    """Make a text safe for the screen; keeps newlines, expands tabs to spaces."""
    text = visible(text.replace("\r\n", "\n")).expandtabs(TAB_CELLS)
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def sanitize_line(text: str) -> str:
    """Make a text safe for the screen, on one line."""
    return sanitize(text).replace("\n", " ")


def plain_flows(
    text: str, ink: str = "text", mode: Literal["words", "letters", "cut"] = "words"
) -> list[Flow]:
    """Return a flow for every line of a text."""
    return [Flow(((line, ink),), mode=mode) for line in sanitize(text).split("\n")]


def wrap(flow: Flow, width: int) -> list[Line]:
    """Wrap a flow; if its prefix leaves no room for text, keep only the mark before the text."""
    lead, hang, pieces = flow.lead, flow.hang, _bounded(flow.pieces)
    before = max(_cells(lead), _cells(hang))
    if before >= width:
        pieces = tuple(piece for piece in lead[-1:] if piece[0].strip()) + pieces
        lead, hang, before = (), (), 0
    room = max(1, width - before)
    match flow.mode:
        case "cut":
            return [_line(lead, _cut(pieces, room), folds=flow.folds)]
        case "rule":
            return [Line((*_cut(lead + pieces, width), *_rule(width, _cells(lead + pieces))))]
        case "words" | "letters":
            return _wrapped(pieces, lead, hang, room, flow)


def _wrapped(pieces: Pieces, lead: Pieces, hang: Pieces, room: int, flow: Flow) -> list[Line]:
    text = "".join(text for text, _ in pieces)
    lines: list[Line] = []
    reader = _Reader(pieces)
    for start, end, join in _breaks(text, room, by_words=flow.mode == "words"):
        margin = hang if lines else lead
        lines.append(_line(margin, reader.take(start, end), join, folds=flow.folds))
    return lines


def _line(margin: Pieces, pieces: Pieces, join: Join = "\n", *, folds: bool = False) -> Line:
    return Line(margin + pieces, sum(len(text) for text, _ in margin), join, folds)


def _cells(pieces: Pieces) -> int:
    return sum(cell_len(text) for text, _ in pieces)


def _rule(width: int, used: int) -> Pieces:
    text = " " + "─" * (width - used - 1) if used else "─" * width
    return ((text, "dim"),) if used < width else ()


def _bounded(pieces: Pieces) -> Pieces:
    whole = sum(len(text) for text, _ in pieces)
    if whole <= MAX_FLOW_CHARS:
        return pieces
    kept = _Reader(pieces).take(0, MAX_FLOW_CHARS)
    return (*kept, (f"{CUT_MARK} [{whole - MAX_FLOW_CHARS:,} characters not shown]", "dim"))


def _cut(pieces: Pieces, room: int) -> Pieces:
    if sum(len(text) for text, _ in pieces) <= 4 * room and _cells(pieces) <= room:
        return pieces
    text = "".join(text for text, _ in pieces)
    _, end, _ = next(_breaks(text[: 8 * room + 8], max(1, room - 1), by_words=False))
    kept = _Reader(pieces).take(0, end)
    return (*kept, (CUT_MARK, "dim")) if room > 1 else ((CUT_MARK, "dim"),)


class _Reader:
    """Takes consecutive parts out of pieces."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._index = 0
        self._start = 0  # offset of the piece at `_index`

    def take(self, start: int, end: int) -> Pieces:
        """Return the pieces between two offsets; offsets never decrease between calls."""
        taken: list[Piece] = []
        while self._index < len(self._pieces):
            text, ink = self._pieces[self._index]
            here = self._start
            if part := text[max(0, start - here) : max(0, end - here)]:
                taken.append((part, ink))
            if here + len(text) > end:
                break
            self._index += 1
            self._start += len(text)
        return tuple(taken)


def _breaks(text: str, width: int, *, by_words: bool) -> Iterator[tuple[int, int, Join]]:
    """Yield the start and end of each line, and what separates it from the line before; at least one line."""
    if text.isascii():
        return _narrow_breaks(text, width, by_words=by_words)
    return _wide_breaks(text, width, by_words=by_words)


def _narrow_breaks(text: str, width: int, *, by_words: bool) -> Iterator[tuple[int, int, Join]]:
    start = 0
    join: Join = "\n"
    while len(text) - start > width:
        space = text.rfind(" ", start + 1, start + width + 1) if by_words else -1
        if space > 0 and not text[start:space].isspace():
            yield start, space, join
            start, join = space + 1, " "
            while start < len(text) and text[start] == " ":
                start += 1
        else:
            yield start, start + width, join
            start, join = start + width, ""
    if start < len(text) or join == "\n":
        yield start, len(text), join


def _wide_breaks(text: str, width: int, *, by_words: bool) -> Iterator[tuple[int, int, Join]]:
    """Do the same for text whose characters may be two cells wide, or zero."""
    spans = split_graphemes(text)[0]
    first = 0
    join: Join = "\n"
    while first < len(spans):
        last, used, space = first, 0, -1
        is_leading = True
        while last < len(spans):
            start, end, cells = spans[last]
            is_space = text[start:end] == " "
            is_leading = is_leading and is_space
            if by_words and is_space and not is_leading:
                space = last
            if used + cells > width and last > first:
                break
            used += cells
            last += 1
        if last == len(spans):
            break
        stop = last if space < 0 else space
        yield spans[first][0], spans[stop][0], join
        first, join = (stop, "") if space < 0 else (stop + 1, " ")
        while join == " " and first < len(spans) and text[slice(*spans[first][:2])] == " ":
            first += 1
    if first < len(spans) or join == "\n":
        yield spans[first][0] if first < len(spans) else 0, len(text), join
