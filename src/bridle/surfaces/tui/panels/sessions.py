"""The list of sessions: open, create, rename, fork, archive, delete and rewind sessions."""

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType

from bridle.core.ids import SessionId
from bridle.core.protocol import Archive, Delete, Rename
from bridle.core.queries import ListSessions, Status
from bridle.core.session_api import LiveSession
from bridle.core.summary import SessionSummary
from bridle.surfaces.shared.session_calls import fork_session
from bridle.surfaces.shared.terminal import Colour
from bridle.surfaces.shared.text_format import short_id
from bridle.surfaces.shared.transcript import local_time
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.dialogs import Confirm, TextDialog
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.lines_view import Line, brief
from bridle.surfaces.tui.panels.list_screen import ListScreen, Row
from bridle.surfaces.tui.panels.notifications import notify, report_errors
from bridle.surfaces.tui.panels.preview import text_lines
from bridle.surfaces.tui.panels.rewind import RewindScreen
from bridle.surfaces.tui.panels.styles import OUTCOMES, styled

# ---------------------------------------------------------------------------- states
# A session's state as a mark and a word.


LIVE: dict[str, tuple[str, str, Colour]] = {
    "running": ("▶", "running", "name"),
    "waiting": ("?", "waiting", "warning"),
}
CUT_OFF: tuple[str, str, Colour] = ("…", "cut off", "warning")
NEW: tuple[str, str, Colour] = ("·", "new", "detail")


def state_of(session: SessionSummary, live: Mapping[SessionId, LiveSession]) -> tuple[str, str, Colour]:
    """Return the mark, the word and the color of a session's state."""
    now = live.get(session.id)
    if now is not None and now.state in LIVE:
        return LIVE[now.state]
    if session.unfinished:
        return CUT_OFF
    return OUTCOMES[session.outcome] if session.outcome is not None else NEW


# ---------------------------------------------------------------------------- sessions


UNTITLED = "(no title)"
DAY_S = 24 * 60 * 60
WORD_CELLS = 15  # "reached a limit"


class SessionsScreen(ListScreen):
    """Lists sessions, newest first; sub-agents appear only in their parent's list of sub-agents."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sessions")]
    heading = "sessions"
    nothing = "no sessions here yet"
    has_preview = True
    choose_label = "open"
    actions = (
        ("new_here", "new"),
        ("rename", "rename"),
        ("fork", "fork"),
        ("archive", "archive"),
        ("delete", "delete"),
        ("rewind_it", "rewind"),
        ("folders", "here or all"),
        ("archived", "show archived"),
    )

    def __init__(self, host: PanelHost) -> None:
        super().__init__(host)
        self._all_folders = False
        self._archived = False
        self._sessions: dict[str, SessionSummary] = {}

    async def load(self) -> Sequence[Row]:
        """Load the sessions."""
        found = [
            one for one in await self.host.api.ask(ListSessions(archived=self._archived)) if not one.sub_agent
        ]
        here = [one for one in found if one.cwd == self.host.cwd]
        shown = found if self._all_folders else here
        self._sessions = {one.id: one for one in shown}
        others = len(found) - len(shown)
        elsewhere = f", {others} in other folders" if others else ""
        where = "of all folders" if self._all_folders else f"of {brief(self.host.cwd)}"
        self.set_subtitle(
            f"{where}{', including archived' if self._archived else ''} ({len(shown)}{elsewhere})"
        )
        return [self._row(one) for one in shown]

    async def preview(self, row: Row) -> Sequence[Line]:
        """Show the last answer."""
        status = await self.host.api.ask(Status(SessionId(row.key)))
        if status.last is None:
            return text_lines("no run has finished yet")
        return text_lines(status.last.text.strip() or status.last.reason or "no answer yet")

    def _row(self, session: SessionSummary) -> Row:
        mark, word, colour = state_of(session, self.host.live)
        title = brief(session.title) or UNTITLED
        front = self.host.head is not None and self.host.head.session == session.id
        where = f"  {brief(session.cwd)}" if self._all_folders else ""
        label = styled(
            (colour, f"{mark} {word:<{WORD_CELLS}}"),
            ("detail", f"{_when(session.updated_at)}  "),
            ("strong", title) if front else title,
            ("detail", " (in front)" if front else ""),
            ("detail", " (archived)" if session.archived else ""),
            ("name", where),
        )
        words = f"{title} {session.cwd} {session.id} {word}"
        return Row(session.id, label, words, dim=session.archived)

    def chosen(self, row: Row) -> None:
        """Open the session."""
        self.dismiss(None)
        self.host.open_session(SessionId(row.key))

    # ------------------------------------------------------------------ keys

    def action_new_here(self) -> None:
        """Start a session in the current folder."""
        self.dismiss(None)
        self.host.new_session(self.host.cwd)

    def action_rename(self) -> None:
        """Ask for another title."""
        if row := self.marked:
            session = self._sessions[row.key]
            self.app.push_screen(
                TextDialog("title of the session", session.title, check=check_title),
                lambda title: self._do_rename(session.id, title),
            )

    def _do_rename(self, session: SessionId, title: str | None) -> None:
        if title is not None:
            self.run_worker(self._submit(session, Rename(title.strip()), "renamed"))

    async def _submit(self, session: SessionId, command: Rename | Archive, done: str) -> None:
        async with report_errors(self.app):
            await self.host.api.submit(session, command)
            notify(self.app, done)
            self.reload()

    def action_fork(self) -> None:
        """Fork the session in its current state."""
        if row := self.marked:
            self.run_worker(self._fork(SessionId(row.key)))

    async def _fork(self, session: SessionId) -> None:
        async with report_errors(self.app):
            forked = await fork_session(self.host.api, session)
            self.dismiss(None)
            self.host.open_session(forked)

    def action_archive(self) -> None:
        """Archive or unarchive the session."""
        if row := self.marked:
            session = self._sessions[row.key]
            done = "restored" if session.archived else "archived; still listed with archived sessions"
            self.run_worker(self._submit(session.id, Archive(not session.archived), done))

    def action_delete(self) -> None:
        """Delete the session after a confirmation."""
        if row := self.marked:
            session = self._sessions[row.key]
            title = brief(session.title) or UNTITLED
            words = f'delete session {short_id(session.id)} "{title}" permanently? This cannot be undone.'
            self.app.push_screen(Confirm(words), lambda answer: self._do_delete(session.id, answer))

    def _do_delete(self, session: SessionId, answer: str | None) -> None:
        if answer is not None:
            self.run_worker(self._delete(session))

    async def _delete(self, session: SessionId) -> None:
        async with report_errors(self.app):
            await self.host.api.submit(session, Delete())
            self.host.session_gone(session)
            notify(self.app, f"session {short_id(session)} is deleted")
            self.reload()

    def action_rewind_it(self) -> None:
        """Choose a prompt of the session to rewind to."""
        if row := self.marked:
            self.app.push_screen(RewindScreen(self.host, SessionId(row.key)))

    def action_folders(self) -> None:
        """Switch between all folders and this one."""
        self._all_folders = not self._all_folders
        self.reload()

    def action_archived(self) -> None:
        """Show or hide archived sessions."""
        self._archived = not self._archived
        self.reload()


def check_title(title: str) -> str:
    """Return why this is not a title; empty if it is one."""
    return "" if title.strip() else "the title is empty"


def _when(at_ms: int) -> str:
    """Format a time: the hour if it is today, else the date."""
    written = local_time(at_ms)
    return f"{written[11:]:>10}" if written[:10] == local_time(int(time.time() * 1000))[:10] else written[:10]
