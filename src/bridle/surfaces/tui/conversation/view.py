"""The conversation widget: scrolling, following the end, folding, selecting and copying."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from bridle.surfaces.shared.text_format import format_count
from bridle.surfaces.shared.view_model.view_types import (
    Call,
    Drop,
    Flash,
    Grow,
    HeadChanged,
    Item,
    Patch,
    Put,
    Reset,
    ViewPage,
    ViewSnapshot,
)
from bridle.surfaces.tui.conversation.cursor import Cursor, item_text, select_row, selected_text
from bridle.surfaces.tui.conversation.loaded_rows import EMPTY_LINE, MAX_ROWS, LoadedRows
from bridle.surfaces.tui.conversation.rows import Row
from bridle.surfaces.tui.conversation.scroll import Scroll
from bridle.surfaces.tui.conversation.strips import Overlay, Painter, Palette, RedrawScheduler
from bridle.surfaces.tui.conversation.text_wrap import Line
from bridle.surfaces.tui.keys import bindings

GUTTER = 1  # cells before the text, for the cursor; one more is free after it

ItemAction = Literal["diff", "child"]
"""Show a call's diff, or open the sub-agent it started."""


class Conversation(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the items of a view."""

    DEFAULT_CSS = """
    Conversation {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("conversation")]
    ALLOW_SELECT = True

    @dataclass
    class OlderWanted(Message):
        """The top is near: answer with `prepend(await older_items(api, session, before))`."""

        before: int

    @dataclass
    class NewerWanted(Message):
        """The bottom is near, and newer items were let go of: answer with `append`.

        With `before`: `append(await older_items(api, session, before))`; without: `append(board.view)`.
        """

        before: int | None

    @dataclass
    class Forgotten(Message):
        """Items that were unloaded because too many came after them: pass them to `Diagnostics.forget`."""

        keys: tuple[str, ...]

    @dataclass
    class ItemChosen(Message):
        """The user wants to see details of an item."""

        item: Item
        action: ItemAction

    def __init__(self, *, clock: Callable[[], float] = time.time, id: str | None = None) -> None:  # noqa: A002  Textual's word
        """Create an empty conversation; `clock` returns seconds since 1970."""
        super().__init__(id=id)
        self._clock = clock
        self._window = LoadedRows()
        self._scroll = Scroll(self._window)
        self._marks = Cursor(self._window, self._scroll)
        self._is_placing = False
        self._pulse = RedrawScheduler(self, self.lay_out_now, self._tick)
        self._asked: set[str] = set()
        self._missed: list[str] = []
        """New items that arrived while the end was unloaded."""
        self._unseen = 0
        self._painter: Painter | None = None

    @property
    def selected(self) -> Item | None:
        """The item under the cursor; None without a cursor."""
        row = self._window.row(self._marks.cursor)
        return row.item if row is not None else None

    @property
    def unseen(self) -> int:
        """How many items arrived while the user was scrolled up."""
        return self._unseen

    @property
    def is_following(self) -> bool:
        """True while the view stays at the end."""
        return self._scroll.is_following

    def show(self, view: ViewSnapshot) -> None:
        """Show a session from its end, replacing the previous content."""
        self.clear()
        self._window.show(view, self._now())

    def clear(self) -> None:
        """Show nothing."""
        self._window = LoadedRows()
        self._scroll = Scroll(self._window)
        self._marks = Cursor(self._window, self._scroll)
        self._asked, self._missed, self._unseen = set(), [], 0
        self._pulse.wake()

    def apply(self, patches: Sequence[Patch]) -> None:
        """Apply patches; ignore those that are not about items."""
        for patch in patches:
            match patch:
                case Put():
                    self._put(patch)
                case Grow():
                    self._window.grow(patch.key, patch.field, patch.text)
                case Drop():
                    self._window.drop(patch.key)
                case HeadChanged() | Flash() | Reset():
                    continue
            self._pulse.wake()

    def prepend(self, page: ViewPage) -> None:
        """Add older items at the top; the visible text does not move."""
        self._asked.discard("older")
        self._window.prepend(page, self._now())
        self._pulse.wake()

    def append(self, page: ViewPage | ViewSnapshot) -> None:
        """Add newer items at the bottom; the visible text does not move."""
        self._asked.discard("newer")
        if self._window.append(page, self._now()):
            self._missed = [] if self._window.has_end else self._missed
            self._pulse.wake()
        elif isinstance(page, ViewSnapshot):
            self.show(page)

    def load_failed(self) -> None:
        """Record that loading a page failed, so that it is requested again."""
        self._asked.clear()

    def find(self, words: str) -> int:
        """Highlight all matches, scroll to the last one, and return their number."""
        found = self._marks.find(words)
        self.lay_out_now()
        return found

    def lay_out_now(self) -> None:
        """Lay out the visible rows now instead of at the next frame."""
        if not self.is_attached:
            return
        self._resized()
        self._scroll.place()
        if keys := self._scroll.trim():
            self.post_message(self.Forgotten(keys))
        self._is_placing = True
        try:
            self.virtual_size = Size(self._width, self._window.total)
            self.scroll_target_y = self.scroll_y = self._scroll.y
        finally:
            self._is_placing = False
        self.refresh()
        self._want()
        if self._scroll.is_following:
            self._unseen = 0
        if self._scroll.is_rough:
            self._pulse.wake()
        self._pulse.run(is_live=self._window.is_live)

    def action_line_up(self) -> None:
        """Scroll up by a line."""
        self._scroll_by(-1)

    def action_line_down(self) -> None:
        """Scroll down by a line."""
        self._scroll_by(1)

    def action_page_up(self) -> None:
        """Scroll up by a page."""
        self._scroll_by(-max(1, self.size.height - 1))

    def action_page_down(self) -> None:
        """Scroll down by a page."""
        self._scroll_by(max(1, self.size.height - 1))

    def action_go_home(self) -> None:
        """Go to the oldest loaded item."""
        self.scroll_to(y=0, animate=False)

    def action_go_end(self) -> None:
        """Go to the end and follow it."""
        self._scroll.is_following = True
        if not self._window.has_end:
            self._window.newer = [None]
        self._pulse.wake()

    def action_item_up(self) -> None:
        """Move the cursor to the previous item."""
        self._marks.move(-1)
        self.lay_out_now()

    def action_item_down(self) -> None:
        """Move the cursor to the next item."""
        self._marks.move(1)
        self.lay_out_now()

    def action_fold(self) -> None:
        """Open or close the item under the cursor."""
        row = self._window.row(self._marks.cursor)
        if row is not None and row.is_foldable:
            self._fold(row)

    def action_fold_all(self) -> None:
        """Open all items, or close all."""
        self._window.fold_all()
        self._pulse.wake()

    def action_copy_item(self) -> None:
        """Copy the original text of the item under the cursor."""
        if (item := self.selected) is not None:
            text = item_text(item)
            self.app.copy_to_clipboard(text)
            self.notify(f"copied {format_count(len(text), 'character')}", timeout=2)

    def action_open_diff(self) -> None:
        """Request the diff of the call under the cursor."""
        if isinstance(item := self.selected, Call) and (item.diff or item.preview):
            self.post_message(self.ItemChosen(item, "diff"))

    def action_open_child(self) -> None:
        """Request the sub-agent that the call under the cursor started."""
        if isinstance(item := self.selected, Call) and item.child is not None:
            self.post_message(self.ItemChosen(item, "child"))

    def action_next_match(self) -> None:
        """Go to the next match."""
        self._marks.step(is_up=False)
        self.lay_out_now()

    def action_previous_match(self) -> None:
        """Go to the previous match."""
        self._marks.step(is_up=True)
        self.lay_out_now()

    def on_mount(self) -> None:
        """Draw what has arrived so far."""
        self._pulse.wake()

    def on_resize(self) -> None:
        """Lay out the visible rows for the new size before they are drawn."""
        self.lay_out_now()

    def notify_style_update(self) -> None:
        """Discard the styles of the old theme."""
        super().notify_style_update()
        self._painter = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Record where the user scrolled to."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_placing and round(old_value) != round(new_value):
            self._scroll.moved(round(new_value))
            self.lay_out_now()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked item, and open or close it if the line folds."""
        if self.text_selection is not None:
            return
        hint = self._hint()
        if hint and event.y == self.size.height - 1 and event.x >= self._width - len(hint):
            self.action_go_end()
            return
        if (found := self._window.line(self._scroll.y + event.y)) is None:
            return
        row, line = found
        self._marks.cursor = row.key
        if line.folds:
            self._fold(row)
        self.refresh()

    def text_select_all(self) -> None:
        """Select the item under the cursor."""
        if (index := self._marks.index) is not None:
            self.screen.selections = {self: select_row(self._window, index, self._scroll.shift)}

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as it was written."""
        return selected_text(self._window, selection, self._scroll.shift), "\n"

    def render_line(self, y: int) -> Strip:
        """Draw one line of the view."""
        painter = self._painter or self._new_painter()
        number, width = self._scroll.y + y, self._width
        found = self._window.line(number)
        if found is None:
            return painter.blank(width)
        row, line = found
        strip = painter.paint(
            line,
            width,
            number + self._scroll.shift,
            self._overlays(painter, row, line, number),
            is_marked=self.has_focus and row.key == self._marks.cursor and line is not EMPTY_LINE,
        )
        return painter.hinted(strip, self._hint() if y == self.size.height - 1 else "", width)

    @property
    def _width(self) -> int:
        """The width without the scrollbar."""
        return max(0, self.size.width - self.scrollbar_size_vertical)

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _put(self, patch: Put) -> None:
        is_new = self._window.put(patch.item, patch.before, self._now())
        if is_new and not self._scroll.is_following:
            self._unseen += 1
        if is_new and not self._window.has_end:
            self._missed.append(patch.item.key)
            if len(self._missed) > MAX_ROWS:
                self.post_message(self.Forgotten(tuple(self._missed)))
                self._missed = []

    def _resized(self) -> None:
        self._scroll.height = self.size.height
        width = max(1, self._width - GUTTER - 1)
        if width != self._window.width:
            self._window.resize(width)
            if self.text_selection is not None:
                self.screen.clear_selection()

    def _want(self) -> None:
        """Request the page before or after if it will soon be needed."""
        wanted = self._scroll.wanted() if self.size else ""
        if not wanted or wanted in self._asked:
            return
        self._asked.add(wanted)
        if wanted == "newer":
            self.post_message(self.NewerWanted(self._window.newer[-1]))
        elif self._window.before is not None:
            self.post_message(self.OlderWanted(self._window.before))

    def _tick(self) -> None:
        if self._window.tick(self._now()):
            self._pulse.wake()

    def _scroll_by(self, lines: int) -> None:
        self.scroll_to(y=self._scroll.y + lines, animate=False)

    def _fold(self, row: Row) -> None:
        self._window.fold(row, is_open=not row.is_open)
        self._scroll.is_following = False  # the opened row stays in place
        self._pulse.wake()

    def _new_painter(self) -> Painter:
        self._painter = Painter(Palette(self.app.theme_variables), self.rich_style)
        return self._painter

    def _overlays(self, painter: Painter, row: Row, line: Line, number: int) -> list[Overlay]:
        place = self._window.place(number)
        found = self._marks.found(row, line, place.line if place is not None else 0)
        overlays: list[Overlay] = [(start, end, painter.style(ink)) for start, end, ink in found]
        selection = self.text_selection
        span = selection.get_span(number + self._scroll.shift) if selection is not None else None
        if span is not None:
            end = len(line.text) if span[1] == -1 else span[1]
            overlays.append((span[0], end, self.screen.get_component_rich_style("screen--selection")))
        return overlays

    def _hint(self) -> str:
        if self._scroll.is_following:
            return ""
        if self._unseen:
            return f" ↓ {self._unseen:,} new "
        return "" if self._window.has_end else " ↓ more "
