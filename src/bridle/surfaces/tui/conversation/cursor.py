"""The cursor and the search of a conversation."""

from bridle.surfaces.tui.conversation.loaded_rows import LinePosition, LoadedRows
from bridle.surfaces.tui.conversation.rows import Row
from bridle.surfaces.tui.conversation.scroll import Scroll
from bridle.surfaces.tui.conversation.search import Search
from bridle.surfaces.tui.conversation.text_wrap import Line


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
