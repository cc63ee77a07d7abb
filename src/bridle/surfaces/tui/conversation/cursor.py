"""The cursor, the search and the selection of a conversation."""

import re

from textual.geometry import Offset
from textual.selection import Selection

from bridle.surfaces.shared.view_model.view_types import Answer, Call, Item, Note, Said, Thought
from bridle.surfaces.tui.conversation.loaded_rows import LinePosition, LoadedRows
from bridle.surfaces.tui.conversation.rows import Row
from bridle.surfaces.tui.conversation.scroll import Scroll
from bridle.surfaces.tui.conversation.text_wrap import Line

# ---------------------------------------------------------------------------- selection
# Copies selected text as it was written, without bars, line numbers and wrapping.


def selected_text(window: LoadedRows, selection: Selection, shift: int) -> str:
    """Return the selected text; `shift` is the offset of the selection's line numbers."""
    start = Offset(0, 0) if selection.start is None else selection.start - Offset(0, shift)
    last = window.total - 1
    end = Offset(1 << 30, last) if selection.end is None else selection.end - Offset(0, shift)
    parts: list[str] = []
    y = max(0, start.y)
    while y <= min(end.y, window.total - 1):
        found = window.line(y)
        if found is None:
            break
        _, line = found
        text = line.text
        first = max(line.margin, start.x if y == start.y else 0)
        part = text[first : end.x if y == end.y else None]
        parts += [line.join if parts else "", part.rstrip() if line.join != "" else part]
        y += 1
    return "".join(parts)


def select_row(window: LoadedRows, index: int, shift: int) -> Selection:
    """Return the selection of a whole row."""
    first = window.top(index) + window.gap(index)
    lines = window.rows[index].lines(window.width)
    end = Offset(len(lines[-1].text) if lines else 0, first + len(lines) - 1 + shift)
    return Selection(Offset(0, first + shift), end)


# ---------------------------------------------------------------------------- search
# Searches the loaded part of a conversation.


# ---------------------------------------------------------------------------- plain text
# Items as plain text, for copying and searching.


def item_text(item: Item) -> str:
    """Return an item's text as it was written."""
    match item:
        case Said() | Answer() | Thought() | Note():
            return item.text
        case Call():
            head = " ".join(filter(None, [item.tool, "" if item.code else item.brief]))
            parts = [head, item.code, item.diff, item.output, item.answer]
            return "\n".join(part.rstrip("\n") for part in parts if part)


# ---------------------------------------------------------------------------- search


MAX_WORDS_CHARS = 200


class Search:
    """A search text, and the position of the last match."""

    def __init__(self, words: str) -> None:
        self._pattern = re.compile(re.escape(words[:MAX_WORDS_CHARS]), re.IGNORECASE)
        self.found: tuple[str, int] | None = None
        """A row's key, and the number of a line in it."""

    def count(self, window: LoadedRows) -> int:
        """Return the number of matches in the loaded rows."""
        return sum(len(self._pattern.findall(item_text(row.item))) for row in window.rows)

    def spans(self, line: Line) -> list[tuple[int, int]]:
        """Return the matches on a line as start and end columns."""
        return [found.span() for found in self._pattern.finditer(line.text)]

    def go(self, window: LoadedRows, start: LinePosition, *, is_up: bool) -> LinePosition | None:
        """Return the next match after `start`, wrapping around; expands a folded row that contains it."""
        step = -1 if is_up else 1
        held = len(window.rows)
        for distance in range(held + 1):
            index = (start.row + step * distance) % held
            row = window.rows[index]
            lines = self._lines(window, row)
            if distance == 0:
                lines = [line for line in lines if (line < start.line if is_up else line > start.line)]
            if lines:
                line = lines[-1] if is_up else lines[0]
                self.found = row.key, line
                return LinePosition(index, line)
        return None

    def _lines(self, window: LoadedRows, row: Row) -> list[int]:
        if not self._pattern.search(item_text(row.item)):
            return []
        found = self._on(row.lines(window.width))
        if not found and row.is_foldable and not row.is_open:
            window.fold(row, is_open=True)
            found = self._on(row.lines(window.width))
        return found

    def _on(self, lines: list[Line]) -> list[int]:
        return [number for number, line in enumerate(lines) if self._pattern.search(line.text)]


# ---------------------------------------------------------------------------- cursor


class Cursor:
    """A cursor and a search in one window; moving either scrolls to it."""

    def __init__(self, window: LoadedRows, scroll: Scroll) -> None:
        self._window = window
        self._scroll = scroll
        self.cursor: str | None = None
        """The key of the item under the cursor."""
        self.finder: Search | None = None

    @property
    def index(self) -> int | None:
        """The index of the row under the cursor; None without a cursor."""
        return self._window.index(self.cursor) if self.cursor is not None else None

    def move(self, step: int) -> None:
        """Move the cursor by `step` rows; the first move puts it on the last visible row."""
        if not self._window.rows:
            return
        index = self.index
        last = len(self._window.rows) - 1
        self._go(
            LinePosition(self._scroll.last_seen if index is None else max(0, min(last, index + step)), 0)
        )

    def find(self, words: str) -> int:
        """Search for words, scroll to the last match, and return the number of matches."""
        self.finder = Search(words) if words else None
        if self.finder is None or not self._window.rows:
            return 0
        self._find(self.finder, LinePosition(len(self._window.rows) - 1, 1 << 30), is_up=True)
        return self.finder.count(self._window)

    def step(self, *, is_up: bool) -> None:
        """Scroll to the next or the previous match."""
        if self.finder is None or not self._window.rows:
            return
        key, line = self.finder.found if self.finder.found is not None else ("", -1)
        index = self._window.index(key)
        start = LinePosition(index, line) if index is not None else LinePosition(self._scroll.first_seen, -1)
        self._find(self.finder, start, is_up=is_up)

    def found(self, row: Row, line: Line, number: int) -> list[tuple[int, int, str]]:
        """Return the matches on a line as start, end and ink."""
        if self.finder is None:
            return []
        ink = "this_match" if self.finder.found == (row.key, number) else "match"
        return [(start, end, ink) for start, end in self.finder.spans(line)]

    def _find(self, finder: Search, start: LinePosition, *, is_up: bool) -> None:
        if (place := finder.go(self._window, start, is_up=is_up)) is not None:
            self._go(place)

    def _go(self, place: LinePosition) -> None:
        self.cursor = self._window.rows[place.row].key
        self._scroll.reveal(place)
