"""The loaded part of a conversation: rows, their positions, and the pages around them.

```
before ── requested when the top is near
┌────────────┐
│ page 120   │  a page is identified by the argument that requested it
│ page 310   │
│ live end   │  page None: patches apply to these rows
└────────────┘
newer  ── pages unloaded below, requested when the bottom is near
```

A row that was never visible has an estimated height; it gets its exact height when it becomes visible.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from bridle.surfaces.shared.view_model.view_types import Call, Item, Note, Thought, ViewPage, ViewSnapshot
from bridle.surfaces.tui.conversation.rows import Field, Row
from bridle.surfaces.tui.conversation.text_wrap import Line

MAX_ROWS = 600
KEPT_ROWS = 450  # rows kept after unloading
SPARE_ROWS = 100  # rows kept laid out on either side of the visible ones
MAX_NESTED = 20

EMPTY_LINE = Line(())


class LinePosition(NamedTuple):
    """A line of the window: the index of its row, and its number in the row; -1 is the gap before it."""

    row: int
    line: int


class LoadedRows:
    """The loaded rows in order."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.before: int | None = None
        """The argument that requests the page before the first row; None if there is none."""
        self.newer: list[int | None] = []
        """The pages unloaded below, the nearest last."""
        self.width = 1
        self.opens_all = False
        self._by_key: dict[str, Row] = {}
        self._tops: list[int] = []
        self._total = 0
        self._is_measured = False

    @property
    def has_end(self) -> bool:
        """True if the live end is loaded."""
        return not self.newer

    @property
    def is_live(self) -> bool:
        """True while a row near the end may still change."""
        return any(row.is_live for row in self.rows[-SPARE_ROWS:])

    @property
    def total(self) -> int:
        """The total number of lines."""
        self._measure()
        return self._total

    def show(self, view: ViewSnapshot, now_ms: int) -> None:
        """Load the end of a session, and nothing else."""
        self.rows, self._by_key, self.newer = [], {}, []
        self.before = view.before
        self._insert(len(self.rows), view.items, None, now_ms)

    def prepend(self, page: ViewPage, now_ms: int) -> None:
        """Add an older page."""
        if self.before is not None:
            asked, self.before = self.before, page.before
            self._insert(0, page.items, asked, now_ms)

    def append(self, page: ViewPage | ViewSnapshot, now_ms: int) -> bool:
        """Add the nearest newer page again; return False if it does not fit after the loaded rows."""
        if not self.newer:
            return True
        asked = self.newer.pop()
        if asked is None and not self._fits(page):
            self.newer.append(None)
            return False
        self._insert(len(self.rows), page.items, asked, now_ms)
        return True

    def put(self, item: Item, before: str, now_ms: int) -> bool:
        """Add or replace an item; return True if it is new."""
        if (row := self._by_key.get(item.key)) is not None:
            row.put(item, now_ms)
            self._is_measured = False
            return False
        if self.has_end:
            place = self.index(before)
            self._insert(len(self.rows) if place is None else place, (item,), None, now_ms)
        return True

    def grow(self, key: str, field: Field, text: str) -> None:
        """Append to an item's text, if it is loaded."""
        if (row := self._by_key.get(key)) is not None:
            row.grow(field, text)
            self._is_measured = False

    def drop(self, key: str) -> None:
        """Remove an item."""
        if (row := self._by_key.pop(key, None)) is not None:
            self.rows.remove(row)
            self._is_measured = False

    def row(self, key: str | None) -> Row | None:
        """Return the row of an item; None if it is not loaded."""
        return self._by_key.get(key) if key is not None else None

    def index(self, key: str) -> int | None:
        """Return the index of an item's row; None if it is not loaded."""
        row = self._by_key.get(key)
        return self.rows.index(row) if row is not None else None

    def resize(self, width: int) -> None:
        """Set another width."""
        self.width = width
        for row in self.rows:
            row.estimate_height(width)
        self._is_measured = False

    def fold(self, row: Row, *, is_open: bool) -> None:
        """Open or close a row."""
        row.fold(is_open=is_open)
        row.lines(self.width)
        self._is_measured = False

    def fold_all(self) -> None:
        """Open all rows, or close all."""
        self.opens_all = not self.opens_all
        for row in self.rows:
            row.fold(is_open=self.opens_all)
            row.estimate_height(self.width)
        self._is_measured = False

    def tick(self, now_ms: int) -> bool:
        """Update the time; return True if that changes a row's text."""
        changed = [row.tick(now_ms) for row in self.rows[-SPARE_ROWS:]]
        self._is_measured = self._is_measured and not any(changed)
        return any(changed)

    def top(self, index: int) -> int:
        """Return the first line of a row, which is the gap before it if there is one."""
        self._measure()
        return self._tops[index]

    def gap(self, index: int) -> int:
        """Return the number of empty lines before a row."""
        if index == 0:
            return 0
        return 0 if _is_small(self.rows[index - 1]) and _is_small(self.rows[index]) else 1

    def place(self, y: int) -> LinePosition | None:
        """Return the place of a line; None outside the window."""
        self._measure()
        if not 0 <= y < self._total:
            return None
        index = bisect_right(self._tops, y) - 1
        return LinePosition(index, y - self._tops[index] - self.gap(index))

    def line(self, y: int) -> tuple[Row, Line] | None:
        """Return one line with its row, laying the row out if needed; None outside the window."""
        place = self.place(y)
        if place is None:
            return None
        row = self.rows[place.row]
        guessed = row.height
        lines = row.shown(self.width)
        self._is_measured = self._is_measured and row.height == guessed
        return row, lines[place.line] if 0 <= place.line < len(lines) else EMPTY_LINE

    def lay_out(self, start: int, end: int) -> bool:
        """Lay out the rows between two lines; return True if that moves any line."""
        self._measure()
        moved = False
        index = max(0, bisect_right(self._tops, start) - 1)
        while index < len(self.rows) and self._tops[index] < end:
            moved = self.lay_out_row(index) or moved
            index += 1
        return moved

    def lay_out_row(self, index: int) -> bool:
        """Lay out one row; return True if its height differs from the estimate."""
        row = self.rows[index]
        if row.is_laid:
            return False
        before = row.height
        row.lines(self.width)
        self._is_measured = self._is_measured and row.height == before
        return row.height != before

    def trim_top(self, first_seen: int) -> tuple[str, ...]:
        """Unload the oldest rows if there are too many and they are not visible; return their keys."""
        if len(self.rows) <= MAX_ROWS:
            return ()
        first = min(len(self.rows) - KEPT_ROWS, first_seen - SPARE_ROWS)
        while first > 0 and not self._can_begin(first):
            first -= 1
        if first <= 0:
            return ()
        row, earlier = self.rows[first], self.rows[first - 1]
        self.before = earlier.page if earlier.page != row.page else row.item.seq - 1
        return self._remove(0, first)

    def trim_bottom(self, last_seen: int) -> None:
        """Unload the newest rows if there are too many and they are not visible."""
        first = max(KEPT_ROWS, last_seen + SPARE_ROWS)
        if len(self.rows) <= MAX_ROWS or first >= len(self.rows):
            return
        for page in dict.fromkeys(row.page for row in reversed(self.rows[first:])):
            if not self.newer or self.newer[-1] != page:
                self.newer.append(page)
        self._remove(first, len(self.rows))

    def release(self, first: int, last: int) -> None:
        """Free the lines of rows far from the visible ones."""
        for index, row in enumerate(self.rows):
            if not first - SPARE_ROWS <= index <= last + SPARE_ROWS:
                row.release()

    def _can_begin(self, index: int) -> bool:
        """Return True if the window may start with a row: no earlier call may still be open there.

        The calls of a turn start with the same record, and the calls made by their code start later; so any
        other item that starts with a later record starts a turn.
        """
        row, earlier = self.rows[index], self.rows[index - 1]
        if row.page != earlier.page:
            return True
        is_nested = isinstance(row.item, Call) and row.item.parent is not None
        return row.kind is not Note and not is_nested and row.item.seq > earlier.item.seq

    def _fits(self, page: ViewPage | ViewSnapshot) -> bool:
        """Return True if the live end directly follows the loaded rows."""
        if not isinstance(page, ViewSnapshot) or not self.rows:
            return False
        last = self.rows[-1]
        if last.page is None:
            return any(item.key == last.key for item in page.items)
        return page.before is None or page.before <= last.page

    def _insert(self, at: int, items: Sequence[Item], page: int | None, now_ms: int) -> None:
        fresh = []
        for item in items:
            if item.key not in self._by_key:
                row = Row(item, page, now_ms)
                row.is_open = self.opens_all
                self._by_key[item.key] = row
                fresh.append(row)
        self.rows[at:at] = fresh
        for row in fresh:
            row.nest(self._depth(row))
            row.estimate_height(self.width)
        self._is_measured = False

    def _depth(self, row: Row) -> int:
        depth = 0
        item: Item | None = row.item
        while isinstance(item, Call) and item.parent is not None and depth < MAX_NESTED:
            depth += 1
            parent = self._by_key.get(item.parent)
            item = parent.item if parent is not None else None
        return depth

    def _remove(self, first: int, last: int) -> tuple[str, ...]:
        gone = self.rows[first:last]
        del self.rows[first:last]
        for row in gone:
            del self._by_key[row.key]
        self._is_measured = False
        return tuple(row.key for row in gone)

    def _measure(self) -> None:
        if self._is_measured:
            return
        y = 0
        tops = []
        for index, row in enumerate(self.rows):
            tops.append(y)
            y += self.gap(index) + row.height
        self._tops, self._total, self._is_measured = tops, y, True


def _is_small(row: Row) -> bool:
    """Return True if the row needs no gap to another small row."""
    return row.kind in (Call, Note, Thought)
