"""The scroll position in a conversation: at the end, or fixed to a line.

Lines move when rows are added, removed, opened or first measured. So the position is stored as the top row
and how many of its lines are above the view; the line number is computed from that.
"""

from typing import Literal

from bridle.surfaces.tui.conversation.loaded_rows import MAX_ROWS, LinePosition, LoadedRows

MAX_TRIES = 6  # to get a stable layout; more would mean a bug
FIRST_LINE = 1 << 20  # start of line numbers for selections, so that older lines fit before


class Scroll:
    """The scroll position."""

    def __init__(self, window: LoadedRows) -> None:
        self._window = window
        self.height = 0
        self.is_following = True
        """True while the view stays at the end."""
        self.y = 0
        self.shift = FIRST_LINE
        """Added to line numbers in selections, so that a line keeps its number when older ones are added."""
        self._anchor: tuple[str, int] | None = None
        """The top row, and how many of its lines are above the view."""
        self._known: tuple[str, int] | None = None
        """A row, and its first line when it was last placed."""

    @property
    def first_seen(self) -> int:
        """The index of the first visible row."""
        place = self._window.place(self.y)
        return place.row if place is not None else 0

    @property
    def last_seen(self) -> int:
        """The index of the last visible row."""
        place = self._window.place(min(self.y + max(1, self.height), self._window.total) - 1)
        return place.row if place is not None else 0

    @property
    def is_rough(self) -> bool:
        """True if calling `place` again would format more of the visible text."""
        return any(row.is_rough for row in self._window.rows[self.first_seen : self.last_seen + 1])

    def place(self) -> int:
        """Lay out the visible rows, and return the first visible line."""
        for row in self._window.rows[self.first_seen : self.last_seen + 1]:
            row.refine()
        self.is_following = self.is_following or self._is_at_end(self._wanted())
        for _ in range(MAX_TRIES):
            self.y = self._wanted()
            if not self._window.lay_out(self.y, self.y + self.height):
                break
        self.y = self._wanted()
        self.is_following = self.is_following or self._is_at_end(self.y)
        self._keep_names()
        self._hold(self.y)
        return self.y

    def moved(self, y: int) -> None:
        """Record that the user scrolled to a line."""
        window = self._window
        place = window.place(max(0, min(y, window.total - 1)))
        if place is None:
            return
        row = window.rows[place.row]
        offset = y - window.top(place.row)
        if 0 < y < self.y and not row.is_laid:
            left = row.height - offset
            window.lay_out_row(place.row)
            offset = max(0, row.height - left)  # from below, keep the distance to the row's end
        self._anchor = row.key, offset
        self.is_following = self._is_at_end(y)

    def trim(self) -> tuple[str, ...]:
        """Unload the rows farthest from the view; return the keys of those removed above it."""
        window = self._window
        if len(window.rows) <= MAX_ROWS:
            return ()
        gone: tuple[str, ...] = ()
        if self.first_seen > len(window.rows) // 2:
            gone = window.trim_top(self.first_seen)
        else:
            window.trim_bottom(self.last_seen)
        self.place()
        window.release(self.first_seen, self.last_seen)
        return gone

    def wanted(self) -> Literal["", "older", "newer"]:
        """Return which unloaded page will soon be needed."""
        window, height = self._window, max(1, self.height)
        if window.newer and (self.is_following or self.y + 2 * height >= window.total):
            return "newer"
        return "older" if window.before is not None and self.y < height else ""

    def reveal(self, place: LinePosition) -> None:
        """Scroll to a line if it is not visible."""
        window = self._window
        window.lay_out_row(place.row)
        y = window.top(place.row) + window.gap(place.row) + max(0, place.line)
        if self.y <= y < self.y + self.height:
            return
        self.is_following = False
        if y >= self.y:
            self._lay_above(place.row)
            y = window.top(place.row) + window.gap(place.row) + max(0, place.line) - max(0, self.height - 1)
        self._hold(max(0, y))

    def _lay_above(self, index: int) -> None:
        """Lay out as many rows before a row as can be visible with it."""
        lines = 0
        while index > 0 and lines < self.height:
            index -= 1
            self._window.lay_out_row(index)
            lines += self._window.rows[index].height

    def _is_at_end(self, y: int) -> bool:
        return self._window.has_end and y >= self._window.total - self.height

    def _wanted(self) -> int:
        window = self._window
        last = max(0, window.total - self.height)
        if self.is_following or self._anchor is None:
            return last
        index = window.index(self._anchor[0])
        if index is None:
            return min(self.y, last)
        end = window.top(index) + window.gap(index) + window.rows[index].height
        return max(0, min(window.top(index) + self._anchor[1], end - 1, last))

    def _hold(self, y: int) -> None:
        place = self._window.place(y)
        if place is not None:
            self._anchor = self._window.rows[place.row].key, y - self._window.top(place.row)

    def _keep_names(self) -> None:
        """Keep line numbers stable, so that a selection stays on its text."""
        index = self._window.index(self._known[0]) if self._known is not None else None
        if index is not None and self._known is not None:
            self.shift += self._known[1] - self._window.top(index)
        place = self._window.place(self.y)
        if place is not None:
            self._known = self._window.rows[place.row].key, self._window.top(place.row)
