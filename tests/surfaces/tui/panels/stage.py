"""A small app for testing panels, which records its messages."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input

from bridle.core.context import ContextUsage
from bridle.core.errors import SessionError
from bridle.core.ids import CallId, SessionId
from bridle.core.model import Effort
from bridle.core.permission import Mode
from bridle.core.protocol import AnyCommand, ApprovalRequested, Delete, Fork
from bridle.core.queries import (
    Describe,
    Diff,
    ListSessions,
    NextContext,
    PlanRewind,
    Query,
    RewindPlan,
    ShowDiff,
    Status,
)
from bridle.core.server_views import ServerView
from bridle.core.session_api import ForkReceipt, LiveSession, Receipt
from bridle.core.session_status import SessionStatus
from bridle.core.summary import SessionSummary
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.folder_info import AgentRow, ModelView
from bridle.surfaces.shared.usage import Stats
from bridle.surfaces.shared.view_model.view_types import Head
from bridle.surfaces.tui.keys import format_keys
from bridle.surfaces.tui.panels.host import Child, DiffStyle, Point

SESSION = SessionId("s1")
DIFF = """\
--- greet.py
+++ greet.py
@@ -1,2 +1,2 @@
 import sys
-print("helo")
+print("hello")
"""
EVIL = "\x1b]0;owned\x07 [red]bold[/red] \u202eabc\u202c \u200b 漢字 e\u0301 " + "x" * 3000


class Answers:
    """The sessions' answers, set by the test."""

    sessions: Sequence[SessionSummary] = ()
    points: Sequence[Point] = ()
    plan: RewindPlan = RewindPlan(1)
    diff: Diff = Diff([], "")
    children: Sequence[Child] = ()
    models: Sequence[ModelView] = ()
    agents: Sequence[AgentRow] = ()
    servers: Sequence[ServerView] = ()
    usage: Stats | None = None
    context: NextContext | None = None
    glance: SessionStatus | None = None


class FakeApi:
    """Records its calls, and returns the test's answers."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.answers = Answers()
        self.refuses = False

    def take(self, *told: Any) -> None:
        if self.refuses:
            raise SessionError("the session does not want that", hint="try [later]")
        self.told.append(told)

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        if isinstance(command, Fork):
            self.take("fork", session, command.at)
            return ForkReceipt(1, session=SessionId("forked"))
        if isinstance(command, Delete):
            self.take("delete", session)
        else:
            self.take("submit", session, command)
        return Receipt(1)

    async def ask(self, query: Query[Any]) -> Any:
        answers = self.answers
        match query:
            case ListSessions():
                return [one for one in answers.sessions if query.archived or not one.archived]
            case PlanRewind():
                return answers.plan
            case Describe():
                return DIFF if query.changes else ""
            case ShowDiff():
                return answers.diff
        found = answers.glance if isinstance(query, Status) else answers.context
        if found is None:
            raise SessionError("nothing to see")
        return found


class FakeViews:
    """Answers as a test says; it is also what is known of folders."""

    def __init__(self, api: FakeApi) -> None:
        self._api = api

    async def points(self, session: SessionId) -> Sequence[Point]:
        return self._api.answers.points

    async def children(self, session: SessionId) -> Sequence[Child]:
        return self._api.answers.children

    async def usage(self, session: SessionId) -> Stats:
        if self._api.answers.usage is None:
            raise SessionError("nothing used")
        return self._api.answers.usage

    async def export(self, session: SessionId, form: Format) -> str:
        self._api.take("export", session, form)
        return f"a document as {form}"

    async def real_models(self, cwd: str = "") -> Sequence[ModelView]:
        return self._api.answers.models

    async def agents(self, cwd: str = "") -> Sequence[AgentRow]:
        return self._api.answers.agents

    async def servers(self, cwd: str = "") -> Sequence[ServerView]:
        return self._api.answers.servers


class Stage(App[None]):
    """An app with a prompt and one panel; it is also the host of the panel, and writes everything down."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, head: Head | None = None) -> None:
        super().__init__()
        self.api = FakeApi()
        self.views = self.folders = FakeViews(self.api)
        self.told = self.api.told
        self.head = head
        self.live: Mapping[SessionId, LiveSession] = {}
        self.cwd = "/project"
        self.diff_style: DiffStyle = "side-by-side"
        self.widgets = widgets
        self.toasts: list[str] = []

    def compose(self) -> ComposeResult:
        yield from self.widgets
        yield Input(id="prompt")

    def notify(self, message: str, **how: Any) -> None:
        assert how["markup"] is False
        self.toasts.append(message)

    @property
    def prompt(self) -> Input:
        return self.screen_stack[0].query_one("#prompt", Input)

    def text(self) -> str:
        """Return all that is on the screen."""
        strips = self.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in row).rstrip() for row in strips)

    def key_text(self, name: str) -> str:
        return format_keys(name, {})

    def is_typing(self) -> bool:
        return bool(self.prompt.value)

    def focus_prompt(self) -> None:
        self.prompt.focus()

    def open_session(self, session: SessionId) -> None:
        self.told.append(("open", session))

    def new_session(self, cwd: str = "") -> None:
        self.told.append(("new", cwd))

    def session_gone(self, session: SessionId) -> None:
        self.told.append(("gone", session))

    def choose_model(self, ref: str) -> None:
        self.told.append(("model", ref))

    def choose_agent(self, name: str) -> None:
        self.told.append(("agent", name))

    def choose_effort(self, effort: Effort) -> None:
        self.told.append(("effort", effort))

    def choose_mode(self, mode: Mode) -> None:
        self.told.append(("mode", mode))

    def choose_theme(self, name: str) -> None:
        self.told.append(("theme", name))

    def choose_diff_style(self, style: DiffStyle) -> None:
        self.told.append(("diff style", style))

    def last_answer(self) -> str:
        return "the answer"

    def open_web(self) -> None:
        self.told.append(("web",))


def head(**fields: Any) -> Head:
    """Return a head of the session on stage."""
    values: dict[str, Any] = {"title": "Fix the greeting", "cwd": "/project", "agent": "default", "seq": 9}
    return Head(session=SESSION, **(values | fields))


def approval(call: str = "c1", **fields: Any) -> ApprovalRequested:
    """Return an approval of an edit."""
    values: dict[str, Any] = {
        "tool": "edit_file",
        "args": {"path": "greet.py"},
        "why": "writes a file (mode ask)",
        "preview": DIFF,
        "suggestions": ("edit_file(*.py)",),
    }
    return ApprovalRequested(CallId(call), **(values | fields))


async def settled(pilot: Pilot[None]) -> None:
    """Wait until everything that was asked for is there and drawn."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


USED = ContextUsage(1000, 100, 200, 300, 50, 100, 4, 1, 2)
