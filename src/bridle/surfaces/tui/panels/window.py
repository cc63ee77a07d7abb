"""The base class of windows: a title, scrolling lines, and keys in the footer."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.lines_view import Line, LinesView
from bridle.surfaces.tui.panels.notifications import WAITING, clicked_action, format_footer, report_errors
from bridle.surfaces.tui.panels.preview import text_lines
from bridle.surfaces.tui.panels.styles import styled


class Window(ModalScreen[None]):
    """Shows lines that are loaded when it opens."""

    BINDINGS: ClassVar[list[BindingType]] = [one for one in bindings("list") if one.id == "close"]
    DEFAULT_CSS = """
    Window {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 94%; max-width: 130; height: 94%; max-height: 44;
            border: round $border; background: $surface; padding: 0 1;
        }
        #title { height: auto; max-height: 3; }
        #foot { height: auto; max-height: 3; color: $text-muted; }
    }
    """

    actions: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, host: PanelHost, heading: str) -> None:
        super().__init__()
        self.host = host
        self.heading = heading

    async def load(self) -> Sequence[Line]:
        """Load the lines; raises BridleError."""
        return ()

    def compose(self) -> ComposeResult:
        """Place the lines between the title and the keys."""
        with Vertical():
            yield Static(styled(("strong", self.heading)), id="title")
            yield LinesView(text_lines(WAITING))
            yield Static(format_footer(self.host, (*self.actions, ("close", "close"))), id="foot")

    def on_mount(self) -> None:
        """Load the lines."""
        self.reload()

    def reload(self) -> None:
        """Load the lines again."""
        self.run_worker(self._load(), group="load", exclusive=True)

    async def _load(self) -> None:
        lines: Sequence[Line] = ()
        async with report_errors(self.app):
            lines = await self.load()
        self.query_one(LinesView).show_lines(lines)

    async def on_click(self, event: events.Click) -> None:
        """Run the action whose label was clicked."""
        if name := clicked_action(event):
            await self.run_action(name)

    def action_close(self) -> None:
        """Close the window."""
        self.dismiss(None)
