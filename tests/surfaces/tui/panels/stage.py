"""A small app to try panels in, whose hands write down what they are told."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input

from bridle.core.context import ContextUsage
from bridle.core.errors import SessionError
from bridle.core.glance import Glance
from bridle.core.ids import CallId, SessionId
from bridle.core.permission import Mode
from bridle.core.protocol import ApprovalRequested, Command
from bridle.core.queries import NextContext, RewindPlan
from bridle.core.revision import FileChange
from bridle.core.server_views import ServerView
from bridle.core.session_api import LiveSession, Receipt
from bridle.core.summary import SessionSummary
from bridle.surfaces.board.values import Head
from bridle.surfaces.export import Format
from bridle.surfaces.folder import AgentRow, ModelView
from bridle.surfaces.looking import Diff
from bridle.surfaces.tui.keys import key_words
from bridle.surfaces.tui.panels.hands import Child, DiffStyle, Point
from bridle.surfaces.usage import Stats

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
    """What the sessions say; a test sets what it needs."""

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
    glance: Glance | None = None


class FakeReach:
    """Writes down what it is told, and answers as a test says."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.answers = Answers()
        self.refuses = False

    def _take(self, *told: Any) -> None:
        if self.refuses:
            raise SessionError("the session does not want that", hint="try [later]")
        self.told.append(told)

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        self._take("submit", session, command)
        return Receipt(1)

    async def fork(self, session: SessionId, at: int | None = None) -> SessionId:
        self._take("fork", session, at)
        return SessionId("forked")

    async def delete(self, session: SessionId) -> None:
        self._take("delete", session)

    async def sessions(self, *, archived: bool = False) -> Sequence[SessionSummary]:
        return [one for one in self.answers.sessions if archived or not one.archived]

    async def glance(self, session: SessionId) -> Glance:
        if self.answers.glance is None:
            raise SessionError("nothing to see")
        return self.answers.glance

    async def points(self, session: SessionId) -> Sequence[Point]:
        return self.answers.points

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        return self.answers.plan

    async def describe(self, changes: Sequence[FileChange]) -> str:
        return DIFF if changes else ""

    async def diff(self, session: SessionId, after: int = 0, upto: int | None = None) -> Diff:
        return self.answers.diff

    async def context(self, session: SessionId) -> NextContext:
        if self.answers.context is None:
            raise SessionError("no context")
        return self.answers.context

    async def usage(self, session: SessionId) -> Stats:
        if self.answers.usage is None:
            raise SessionError("nothing used")
        return self.answers.usage

    async def children(self, session: SessionId) -> Sequence[Child]:
        return self.answers.children

    async def models(self, cwd: str = "") -> Sequence[ModelView]:
        return self.answers.models

    async def agents(self, cwd: str = "") -> Sequence[AgentRow]:
        return self.answers.agents

    async def servers(self, cwd: str = "") -> Sequence[ServerView]:
        return self.answers.servers

    async def export(self, session: SessionId, form: Format) -> str:
        self._take("export", session, form)
        return f"a document as {form}"


class Stage(App[None]):
    """An app with a prompt and one panel; it is also the hands, which write everything down."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, head: Head | None = None) -> None:
        super().__init__()
        self.reach = FakeReach()
        self.told = self.reach.told
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

    def key_words(self, name: str) -> str:
        return key_words(name, {})

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
        "why": "mode ask: write access",
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
