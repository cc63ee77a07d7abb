"""Searches the loaded part of a conversation."""

import re

from bridle.surfaces.tui.conversation.loaded_rows import LinePosition, LoadedRows
from bridle.surfaces.tui.conversation.plain_text import item_text
from bridle.surfaces.tui.conversation.rows import Row
from bridle.surfaces.tui.conversation.text_wrap import Line

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
