"""A scrolling view of many lines; long lines wrap, so that nothing is hidden."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import LINE_HEAD_CHARS, LINE_TAIL_CHARS, MAX_LINE_CHARS

MAX_LINES = 20_000
TAB_CELLS = 4
BRIEF_CHARS = 200
MIN_CELLS = 2  # of a column: a wide character must fit
COLUMN_GAP = " │ "


class StyledCell(Struct, frozen=True):
    """One column of a line: a margin that wrapped rows do not repeat, and a text."""

    text: Content
    margin: Content = Content("")


Line = tuple[StyledCell, ...]
"""One column, or two side by side."""


def shorten_line(text: str) -> str:
    """Replace the middle of a very long line by the number of characters left out."""
    left_out = len(text) - MAX_LINE_CHARS
    if left_out <= 0:
        return text
    return f"{text[:LINE_HEAD_CHARS]} [{left_out:,} characters not shown] {text[-LINE_TAIL_CHARS:]}"


def brief(text: str) -> str:
    """Shorten a text to one line for a list."""
    line = one_line(text[: 2 * BRIEF_CHARS])
    return line if len(line) <= BRIEF_CHARS else f"{line[: BRIEF_CHARS - 1]}…"


def expand_tabs(text: str) -> str:
    """Replace tabs by spaces, because terminals draw tabs differently."""
    return text.replace("\t", " " * TAB_CELLS) if "\t" in text else text


class LinesView(ScrollView, can_focus=True):
    """Shows lines, drawing only the visible ones."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LinesView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, lines: Sequence[Line] = (), *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._lines: list[Line] = []
        self._starts: list[int] = [0]  # the first row of each line, then the total
        self._width = 0
        self._drawn: LRUCache[tuple[int, int], list[Strip]] = LRUCache(512)
        self.show_lines(lines)

    @property
    def row_count(self) -> int:
        """The number of rows of all lines at the current width."""
        return self._starts[-1]

    @property
    def lines(self) -> Sequence[Line]:
        """The lines shown."""
        return self._lines

    def show_lines(self, lines: Sequence[Line], *, keep_place: bool = False) -> None:
        """Replace the lines; scroll to the top unless `keep_place`."""
        self._lines = list(lines[:MAX_LINES])
        if len(lines) > MAX_LINES:
            more = Content(f"[{len(lines) - MAX_LINES:,} more lines not shown]")
            self._lines.append((StyledCell(more),))
        self._width = -1
        if self.is_mounted:
            self._lay_out()
            if not keep_place:
                self.scroll_to(0, 0, animate=False)
            self.refresh()

    def rows_at(self, width: int) -> int:
        """Return the number of rows of all lines at a width."""
        return sum(_height(line, width) for line in self._lines)

    def scroll_to_line(self, index: int) -> None:
        """Scroll a line to the top."""
        if 0 <= index < len(self._lines):
            self.scroll_to(0, self._starts[index], animate=False)

    @property
    def line_at_top(self) -> int:
        """The line that the first visible row belongs to."""
        return max(0, bisect_right(self._starts, self.scroll_offset.y) - 1)

    def on_resize(self) -> None:
        """Wrap the lines again if the width changed."""
        self._lay_out()

    def notify_style_update(self) -> None:
        """Discard rows drawn in the old theme."""
        super().notify_style_update()
        self._drawn.clear()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        row = self.scroll_offset.y + y
        width = self._width
        if row >= self.row_count or width <= 0:
            return Strip.blank(max(0, self.size.width), self.rich_style)
        index = bisect_right(self._starts, row) - 1
        strips = self._drawn.get((index, width))
        if strips is None:
            strips = self._draw(self._lines[index], width)
            self._drawn[(index, width)] = strips
        return strips[row - self._starts[index]]

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width == self._width:
            return
        self._width = width
        self._drawn.clear()
        heights = [_height(line, width) for line in self._lines] if width > 0 else []
        self._starts = [0, *accumulate(heights)]
        self.virtual_size = Size(max(0, width), self.row_count)

    def _draw(self, line: Line, width: int) -> list[Strip]:
        room = _room(line, width)
        height = _height(line, width)
        columns = [self._draw_cell(cell, room, height) for cell in line]
        if len(columns) == 1:
            return columns[0]
        gap = Strip([Segment(COLUMN_GAP, self.rich_style)])
        rows = zip(*columns, strict=True)
        return [
            Strip.join([left, gap, right]).adjust_cell_length(width, self.rich_style) for left, right in rows
        ]

    def _draw_cell(self, cell: StyledCell, room: int, height: int) -> list[Strip]:
        margin = cell.margin.cell_length
        blank = Content(" " * margin)
        rows = _folded(cell.text, max(MIN_CELLS, room - margin))
        whole = [(cell.margin if at == 0 else blank) + row for at, row in enumerate(rows)]
        whole += [Content("")] * (height - len(whole))
        return [self._strip(row, room) for row in whole]

    def _strip(self, row: Content, width: int) -> Strip:
        style = self.visual_style
        strips = Visual.to_strips(self, row, max(width, row.cell_length, 1), 1, style)
        strip = strips[0] if strips else Strip.blank(width)
        return strip.adjust_cell_length(width, style.rich_style)


def _room(line: Line, width: int) -> int:
    """Return the width of each column of a line."""
    return width if len(line) == 1 else max(1, (width - len(COLUMN_GAP)) // 2)


def _height(line: Line, width: int) -> int:
    room = _room(line, width)
    return max(1, *(_rows(cell, room) for cell in line)) if line else 1


def _rows(cell: StyledCell, room: int) -> int:
    width = max(MIN_CELLS, room - cell.margin.cell_length)
    text = cell.text.plain
    if text.isascii():
        return -(-len(text) // width) or 1
    return len(_folded(cell.text, width))


def _folded(text: Content, width: int) -> list[Content]:
    """Split a text into rows between characters; a zero-width character stays with the one before it."""
    plain = text.plain
    if cell_len(plain) <= width:
        return [text]
    cuts, used = [0], 0
    for at, character in enumerate(plain):
        cells = cell_len(character)
        if used + cells > width:
            cuts.append(at)
            used = 0
        used += cells
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(plain)], strict=True)]
