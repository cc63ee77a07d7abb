"""The side bar: context, usage, to-do list, queue, files, sub-agents and servers."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from bridle.core.ids import SessionId
from bridle.core.queries import ShowDiff
from bridle.core.revision import FileChange
from bridle.core.server_views import ServerView
from bridle.surfaces.shared.view_model.view_types import Head
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.host import Child, PanelHost
from bridle.surfaces.tui.panels.notifications import report_errors
from bridle.surfaces.tui.panels.sidebar_sections import (
    MAX_ROWS,
    child_rows,
    context_rows,
    file_rows,
    queue_rows,
    server_rows,
    todo_rows,
    usage_rows,
)
from bridle.surfaces.tui.panels.styles import styled

ROOM_FOR_NUMBERS = 28
"""Cells of a bar's row besides the bar itself, and around it."""


class SideBar(VerticalScroll):
    """A session's state in a narrow column."""

    can_focus = False
    DEFAULT_CSS = """
    SideBar {
        width: 46; height: 1fr;
        padding: 0 1;
        scrollbar-size-vertical: 1;
        Static { height: auto; margin-bottom: 1; }
    }
    """

    def __init__(self, host: PanelHost) -> None:
        """Create an empty side bar."""
        super().__init__()
        self.host = host
        self._head: Head | None = None
        self._files: Sequence[FileChange] = ()
        self._children: Sequence[Child] = ()
        self._servers: Sequence[ServerView] = ()
        self._asked: tuple[SessionId | None, int, int, bool] = (None, -1, -1, False)

    def compose(self) -> ComposeResult:
        """Use a single widget for all sections, because they are updated together."""
        yield Static(id="sections")

    def on_mount(self) -> None:
        """Show the session's state, if it is already set."""
        self._write()

    def on_resize(self) -> None:
        """Fit the bars to the width."""
        self._write()

    def show_head(self, head: Head | None) -> None:
        """Show a session's state; call it on every HeadChanged."""
        if head is None or self._head is None or head.session != self._head.session:
            self._files, self._children = (), ()
        self._head = head
        self._write()
        if head is None:
            return
        moved = (head.session, head.files_seq, head.children_seq, head.state == "running")
        if moved != self._asked:
            self._asked = moved
            self.run_worker(self._load(head), group="load", exclusive=True)

    async def _load(self, head: Head) -> None:
        """Load what the head does not contain."""
        host = self.host
        async with report_errors(self.app):
            self._files = (await host.api.ask(ShowDiff(head.session))).changes if head.files_seq else ()
            self._children = await host.views.children(head.session) if head.children_seq else ()
            self._servers = [one for one in await host.folders.servers(head.cwd) if one.state != "off"]
            self._write()

    def _write(self) -> None:
        if self._head is None:
            sections = [styled(("detail", "no session yet"))]
        else:
            sections = self._sections(self._head)
        for part in self.query("#sections").results(Static):
            part.update(Content("\n\n").join(sections))

    def _sections(self, head: Head) -> list[Content]:
        bar_cells = max(0, self.size.width - ROOM_FOR_NUMBERS)
        done = sum(todo.status == "completed" for todo in head.todos)
        found = (
            ("context", context_rows(head.context, bar_cells)),
            ("used", usage_rows(head)),
            (f"to do {done} of {len(head.todos)}", todo_rows(head.todos)),
            (f"queue {len(head.queue)}", queue_rows(head.queue)),
            (f"changed files {len(self._files)}", file_rows(self._files)),
            (f"sub-agents {len(self._children)}", child_rows(self._children)),
            ("servers", server_rows(self._servers)),
        )
        return [_section(title, rows) for title, rows in found if rows]


class SideScreen(ModalScreen[None]):
    """The side bar over the conversation, for narrow terminals."""

    BINDINGS: ClassVar[list[BindingType]] = [one for one in bindings("list") if one.id == "close"]
    DEFAULT_CSS = """
    SideScreen {
        align: right top;
        background: $background 40%;
        SideBar {
            width: 100%; max-width: 60; height: 100%;
            background: $surface; border-left: solid $border;
        }
    }
    """

    def __init__(self, host: PanelHost) -> None:
        super().__init__()
        self.host = host

    def compose(self) -> ComposeResult:
        """Show the side bar."""
        yield SideBar(self.host)

    def on_mount(self) -> None:
        """Show the current session's state."""
        self.show_head(self.host.head)

    def show_head(self, head: Head | None) -> None:
        """Show a session's state; call it on every HeadChanged."""
        self.query_one(SideBar).show_head(head)

    def action_close(self) -> None:
        """Close the side bar."""
        self.dismiss(None)


def _section(title: str, rows: Sequence[Content]) -> Content:
    more = len(rows) - MAX_ROWS
    shown = [*rows[:MAX_ROWS], *([styled(("detail", f"and {more} more"))] if more > 0 else [])]
    return Content("\n").join([styled(("strong", title)), *shown])
