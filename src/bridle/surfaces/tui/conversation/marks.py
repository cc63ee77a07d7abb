"""What the user has marked in a conversation: the item under the cursor, and the words that are searched."""

from bridle.surfaces.tui.conversation.finding import Finder
from bridle.surfaces.tui.conversation.lines import Line
from bridle.surfaces.tui.conversation.rows import Row
from bridle.surfaces.tui.conversation.scroll import Scroll
from bridle.surfaces.tui.conversation.window import Place, Window


class Marks:
    """A cursor and a search over one window; what they reach comes into view."""

    def __init__(self, window: Window, scroll: Scroll) -> None:
        self._window = window
        self._scroll = scroll
        self.cursor: str | None = None
        """The key of an item."""
        self.finder: Finder | None = None

    @property
    def index(self) -> int | None:
        """Return the number of the row under the cursor."""
        return self._window.index(self.cursor) if self.cursor is not None else None

    def move(self, step: int) -> None:
        """Move the cursor by some rows; it begins with the last one in view."""
        if not self._window.rows:
            return
        index = self.index
        last = len(self._window.rows) - 1
        self._go(Place(self._scroll.last_seen if index is None else max(0, min(last, index + step)), 0))

    def find(self, words: str) -> int:
        """Search for words, go to the last place, and return how many there are."""
        self.finder = Finder(words) if words else None
        if self.finder is None or not self._window.rows:
            return 0
        self._find(self.finder, Place(len(self._window.rows) - 1, 1 << 30), is_up=True)
        return self.finder.count(self._window)

    def step(self, *, is_up: bool) -> None:
        """Go to the next place, or to the one before."""
        if self.finder is None or not self._window.rows:
            return
        key, line = self.finder.found if self.finder.found is not None else ("", -1)
        index = self._window.index(key)
        start = Place(index, line) if index is not None else Place(self._scroll.first_seen, -1)
        self._find(self.finder, start, is_up=is_up)

    def found(self, row: Row, line: Line, number: int) -> list[tuple[int, int, str]]:
        """Return where the words stand on a line, and the ink that shows it."""
        if self.finder is None:
            return []
        ink = "this_match" if self.finder.found == (row.key, number) else "match"
        return [(start, end, ink) for start, end in self.finder.spans(line)]

    def _find(self, finder: Finder, start: Place, *, is_up: bool) -> None:
        if (place := finder.go(self._window, start, is_up=is_up)) is not None:
            self._go(place)

    def _go(self, place: Place) -> None:
        self.cursor = self._window.rows[place.row].key
        self._scroll.reveal(place)
