"""The base class of list windows: search and choose."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.lines_view import Line, LinesView
from bridle.surfaces.tui.panels.notifications import clicked_action, format_footer, report_errors
from bridle.surfaces.tui.panels.styles import styled

MAX_ROWS = 500
"""How many rows are shown at once; a search finds the others."""
MIN_HEIGHT_FOR_PREVIEW = 18

FOOT: tuple[tuple[str, str], ...] = (("search_list", "search"), ("close", "close"))


class Row(Struct, frozen=True):
    """One row of a list."""

    key: str
    label: Content
    words: str
    """The text that a search matches."""
    dim: bool = False


class ListScreen(ModalScreen[None]):
    """Shows rows, filters them by a search, and acts on the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]
    DEFAULT_CSS = """
    ListScreen {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 94%; max-width: 130; height: 94%; max-height: 44;
            border: round $border; background: $surface; padding: 0 1;
        }
        #title { height: 1; }
        #search { background: $boost; }
        #rows {
            height: 2fr; border: none; padding: 0; background: $surface;
            text-wrap: nowrap; text-overflow: ellipsis;
            &:focus { background-tint: $foreground 0%; }
            & > .option-list--option-highlighted {
                background: $primary 30%; color: $foreground; text-style: bold;
            }
            &:focus > .option-list--option-highlighted {
                background: $primary 30%; color: $foreground; text-style: bold;
            }
        }
        #preview { border-top: solid $border-blurred; height: 1fr; }
        #foot { height: auto; max-height: 3; color: $text-muted; }
        &.-short #preview { display: none; }
    }
    """
    AUTO_FOCUS = "#rows"

    heading: ClassVar[str] = ""
    actions: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Actions in the footer besides those of every list: action and label."""
    choose_label: ClassVar[str] = "choose"
    has_preview: ClassVar[bool] = False
    nothing: ClassVar[str] = "nothing here"

    def __init__(self, host: PanelHost) -> None:
        super().__init__()
        self.host = host
        self._rows: Sequence[Row] = ()
        self._shown: list[Row] = []

    # ------------------------------------------------------------------ for subclasses

    async def load(self) -> Sequence[Row]:
        """Load the rows; raises BridleError."""
        return ()

    def chosen(self, row: Row) -> None:
        """Handle Enter on a row."""

    async def preview(self, row: Row) -> Sequence[Line]:
        """Return the preview of the selected row; raises BridleError."""
        return ()

    # ------------------------------------------------------------------ window

    def compose(self) -> ComposeResult:
        """Place the search above the list and the keys below it."""
        with Vertical():
            yield Static(styled(("strong", self.heading)), id="title")
            yield Input(placeholder="search", id="search", compact=True)
            yield OptionList(id="rows", markup=False)
            if self.has_preview:
                yield LinesView(id="preview")
            foot = (("choose", self.choose_label), *self.actions, *FOOT)
            yield Static(format_footer(self.host, foot), id="foot")

    def on_mount(self) -> None:
        """Load the rows."""
        self.reload()

    def on_resize(self) -> None:
        """Hide the preview on a low screen."""
        self.set_class(self.size.height < MIN_HEIGHT_FOR_PREVIEW, "-short")

    def reload(self) -> None:
        """Load the rows again; keep the selected row."""
        self.run_worker(self._load(), group="load", exclusive=True)

    def set_subtitle(self, words: str) -> None:
        """Add text to the title."""
        self.query_one("#title", Static).update(styled(("strong", self.heading), f"  {words}"))

    @property
    def marked(self) -> Row | None:
        """The selected row; None if there is none."""
        at = self.query_one("#rows", OptionList).highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    async def _load(self) -> None:
        async with report_errors(self.app):
            self._rows = await self.load()
            self._show()

    def _show(self) -> None:
        marked = self.marked
        search = self.query_one("#search", Input)
        words = search.value.casefold().split()
        found = [row for row in self._rows if all(word in row.words.casefold() for word in words)]
        self._shown = found[:MAX_ROWS]
        options = self.query_one("#rows", OptionList)
        options.clear_options()
        options.add_options([Option(_one_row(row)) for row in self._shown])
        more = len(found) - MAX_ROWS
        search.placeholder = f"search ({more:,} more not shown)" if more > 0 else "search"
        if not found:
            options.add_option(Option(Content(self.nothing if not words else "nothing found"), disabled=True))
        kept = next((at for at, row in enumerate(self._shown) if marked and row.key == marked.key), 0)
        options.highlighted = kept if self._shown else None
        if not self._shown:
            self._show_preview(())

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the rows."""
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the selected row on Enter in the search."""
        if row := self.marked:
            self.chosen(row)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose a row."""
        event.stop()
        if event.option_index < len(self._shown):
            self.chosen(self._shown[event.option_index])

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Load the preview of the selected row."""
        if self.has_preview:
            self.run_worker(self._preview(), group="preview", exclusive=True)

    async def _preview(self) -> None:
        row = self.marked
        if row is not None and not self.has_class("-short"):
            async with report_errors(self.app):
                self._show_preview(await self.preview(row))

    def _show_preview(self, lines: Sequence[Line]) -> None:
        for view in self.query(LinesView):
            view.show_lines(lines)

    # ------------------------------------------------------------------ keys

    async def on_click(self, event: events.Click) -> None:
        """Run the action whose label was clicked."""
        if name := clicked_action(event):
            await self.run_action(name)

    def action_choose(self) -> None:
        """Choose the selected row; called by clicks, since the focused widget handles the key itself."""
        if row := self.marked:
            self.chosen(row)

    def action_search_list(self) -> None:
        """Focus the search; while it has the focus, the key is typed instead."""
        self.query_one("#search", Input).focus()

    def action_close(self) -> None:
        """Clear the search, or close the window."""
        search = self.query_one("#search", Input)
        if search.has_focus and search.value:
            search.value = ""
        else:
            self.dismiss(None)

    def action_mark_up(self) -> None:
        """Select the row above."""
        self.query_one("#rows", OptionList).action_cursor_up()

    def action_mark_down(self) -> None:
        """Select the row below."""
        self.query_one("#rows", OptionList).action_cursor_down()

    def action_mark_page_up(self) -> None:
        """Go up a page."""
        self.query_one("#rows", OptionList).action_page_up()  # type: ignore[no-untyped-call]  # Textual's

    def action_mark_page_down(self) -> None:
        """Go down a page."""
        self.query_one("#rows", OptionList).action_page_down()  # type: ignore[no-untyped-call]


def _one_row(row: Row) -> Content:
    return row.label.stylize("dim") if row.dim else row.label
