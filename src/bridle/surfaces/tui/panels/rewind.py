"""The rewind windows: choose a prompt, preview the changes, rewind. A rewind can be undone."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from bridle.core.ids import SessionId
from bridle.core.protocol import Rewind, RewindScope
from bridle.core.queries import Describe, PlanRewind, RewindPlan
from bridle.surfaces.shared.event_notes import SCOPE_WORDS
from bridle.surfaces.shared.session_calls import fork_session
from bridle.surfaces.shared.text_format import format_count
from bridle.surfaces.shared.transcript import local_time
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.dialogs import Confirm
from bridle.surfaces.tui.panels.host import PanelHost, Point
from bridle.surfaces.tui.panels.lines_view import LinesView, brief
from bridle.surfaces.tui.panels.list_screen import ListScreen, Row
from bridle.surfaces.tui.panels.notifications import (
    WAITING,
    clicked_action,
    format_footer,
    notify,
    report_errors,
)
from bridle.surfaces.tui.panels.preview import diff_lines, text_lines
from bridle.surfaces.tui.panels.styles import styled

SCOPES: tuple[tuple[RewindScope, str], ...] = tuple(SCOPE_WORDS.items())
MAX_NAMED = 8


class RewindScreen(ListScreen):
    """Lists the prompts to rewind to, newest first."""

    heading = "rewind to before …"
    nothing = "no prompts to rewind to"
    choose_label = "preview"

    def __init__(self, host: PanelHost, session: SessionId) -> None:
        super().__init__(host)
        self._session = session
        self._points: dict[str, Point] = {}

    async def load(self) -> Sequence[Row]:
        """Load the prompts."""
        points = await self.host.views.points(self._session)
        self._points = {str(point.seq): point for point in points}
        return [_row(point) for point in points]

    def chosen(self, row: Row) -> None:
        """Show what the rewind would do."""
        self.app.push_screen(PlanScreen(self.host, self._session, self._points[row.key]), self._planned)

    def _planned(self, done: Literal["done"] | None) -> None:
        if done is not None:
            self.dismiss(None)


class PlanScreen(ModalScreen[Literal["done"] | None]):
    """Previews a rewind and performs it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(one for one in bindings("list") if one.id == "close"),
        *bindings("rewind"),
    ]
    DEFAULT_CSS = """
    PlanScreen {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 94%; max-width: 130; height: 94%; max-height: 44;
            border: round $border; background: $surface; padding: 0 1;
        }
        #title, #notes, #foot { height: auto; max-height: 6; }
        #foot { color: $text-muted; }
    }
    """

    def __init__(self, host: PanelHost, session: SessionId, point: Point) -> None:
        super().__init__()
        self.host = host
        self._session = session
        self._point = point
        self._plan: RewindPlan | None = None
        self._scope = 0

    @property
    def scope(self) -> RewindScope:
        """Whether the rewind affects files, the conversation or both."""
        return SCOPES[self._scope][0]

    def compose(self) -> ComposeResult:
        """Place the diff between the summary and the keys."""
        actions = (
            ("go_back", "rewind"),
            ("switch_scope", "files, conversation or both"),
            ("fork_instead", "fork there instead"),
            ("close", "cancel"),
        )
        with Vertical():
            yield Static(id="title")
            yield Static(id="notes")
            yield LinesView(text_lines(WAITING))
            yield Static(format_footer(self.host, actions), id="foot")

    def on_mount(self) -> None:
        """Load the plan of the rewind."""
        self._write()
        self.query_one(LinesView).focus()
        self.run_worker(self._load(), group="load", exclusive=True)

    async def _load(self) -> None:
        async with report_errors(self.app):
            plan = await self.host.api.ask(PlanRewind(self._session, self._point.seq))
            text = await self.host.api.ask(Describe(plan.changes))
            self._plan = plan
            self.query_one(LinesView).show_lines(
                diff_lines(text, "unified") if text else text_lines("no file changes")
            )
            self._write()

    def _write(self) -> None:
        where = "the last rewind" if self._point.undo else f'"{brief(self._point.prompt)}"'
        title = styled("rewind to before ", ("strong", where), ": ", ("name", SCOPES[self._scope][1]))
        self.query_one("#title", Static).update(title)
        self.query_one("#notes", Static).update(Content("\n").join(self._notes()))
        self.query_one(LinesView).display = self.scope != "conversation"

    def _notes(self) -> list[Content]:
        notes: list[Content] = []
        plan = self._plan
        if self.scope != "files" and not self._point.undo:
            notes.append(
                styled(
                    ("detail", "this prompt and everything after it will be removed from the conversation")
                )
            )
        if plan is None or self.scope == "conversation":
            return notes
        if plan.conflicts:
            notes.append(styled(("warning", f"! changed outside the session: {_named(plan.conflicts)}")))
        if plan.lost:
            notes.append(styled(("warning", f"! cannot be restored, too large to save: {_named(plan.lost)}")))
        return notes

    # ------------------------------------------------------------------ keys

    async def on_click(self, event: events.Click) -> None:
        """Run the action whose label was clicked."""
        if name := clicked_action(event):
            await self.run_action(name)

    def action_switch_scope(self) -> None:
        """Switch between files, conversation and both."""
        self._scope = (self._scope + 1) % len(SCOPES)
        self._write()

    def action_go_back(self) -> None:
        """Rewind; ask first if that would overwrite changes that the session did not make."""
        if self._plan is None:
            return
        if self.scope == "conversation" or not self._plan.conflicts:
            self.run_worker(self._go(force=False), group="go", exclusive=True)
            return
        question = f"overwrite changes made outside the session: {_named(self._plan.conflicts)}?"
        self.app.push_screen(Confirm(question), self._go_over)

    def _go_over(self, answer: str | None) -> None:
        if answer is not None:
            self.run_worker(self._go(force=True), group="go", exclusive=True)

    async def _go(self, *, force: bool) -> None:
        async with report_errors(self.app):
            await self.host.api.submit(self._session, Rewind(self._point.seq, self.scope, force))
            key = self.host.key_text("rewind")
            notify(self.app, f'rewound; to undo it: {key}, then "before the last rewind"')
            self.dismiss("done")

    def action_fork_instead(self) -> None:
        """Fork the session there, and change nothing."""
        self.run_worker(self._fork(), group="go", exclusive=True)

    async def _fork(self) -> None:
        async with report_errors(self.app):
            forked = await fork_session(self.host.api, self._session, self._point.seq)
            self.dismiss("done")
            self.host.open_session(forked)

    def action_close(self) -> None:
        """Close without changes."""
        self.dismiss(None)


def _row(point: Point) -> Row:
    if point.undo:
        label = styled(
            ("detail", f"{local_time(point.at)}  "), ("warning", "before the last rewind"), " (undoes it)"
        )
        return Row(str(point.seq), label, "undo before the last rewind")
    prompt = brief(point.prompt)
    files = f", {format_count(point.files, 'file change')}" if point.files else ""
    made = styled(("detail", f"  ({format_count(point.turns, 'turn')}{files})"))
    return Row(str(point.seq), styled(("detail", f"{local_time(point.at)}  "), prompt, made), prompt)


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - MAX_NAMED
    named = ", ".join(brief(path) for path in paths[:MAX_NAMED])
    return f"{named} and {more} more" if more > 0 else named
