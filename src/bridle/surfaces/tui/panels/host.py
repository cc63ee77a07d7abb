"""The interface between panels and the app: the session API, queries about folders, and app operations.

```
panel ──▶ PanelHost ──▶ the app: opens sessions, chooses models, moves the focus
              ├─ api ──────▶ SessionApi: commands and queries, each may raise BridleError
              ├─ folders ──▶ agents, models and servers of a folder
              └─ views ────▶ data that takes more than one query
```
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from msgspec import Struct
from textual.app import App

from bridle.core.ids import SessionId
from bridle.core.model import Effort
from bridle.core.permission import Mode
from bridle.core.protocol import Outcome
from bridle.core.session_api import LiveSession, SessionApi
from bridle.surfaces.shared.view_model.view_types import Head

if TYPE_CHECKING:  # keeps these imports out of the start of the app
    from bridle.surfaces.shared.export import Format
    from bridle.surfaces.shared.folder_queries import FolderQueries
    from bridle.surfaces.shared.usage import Stats

DiffStyle = Literal["unified", "side-by-side"]
"""How a diff is shown if the screen has room for both styles."""


class Point(Struct, frozen=True):
    """A point in a session to rewind to: right before a prompt."""

    seq: int
    """The record to rewind to: the session returns to its state after it."""
    at: int
    """When the prompt was submitted, in milliseconds since 1970."""
    prompt: str
    turns: int = 0
    """The number of turns of its run, which a rewind removes from the conversation."""
    files: int = 0
    """The number of file changes that these turns made."""
    undo: bool = False
    """True if it is the point before the last rewind, not before a prompt."""


class Child(Struct, frozen=True):
    """A sub-agent, with its usage and that of its descendants."""

    id: SessionId
    parent: SessionId
    name: str
    task: str = ""
    agent: str = ""
    model: str = ""
    running: bool = False
    outcome: Outcome | None = None
    """None while it works, or if its end is not recorded."""
    turns: int = 0
    tokens: int = 0
    cost: float | None = None


class SessionViews(Protocol):
    """Data about sessions that takes more than one query; every method may raise BridleError."""

    async def points(self, session: SessionId) -> Sequence[Point]:
        """Return the points to rewind to, newest first."""
        ...

    async def children(self, session: SessionId) -> Sequence[Child]:
        """Return the sub-agents of a session and their descendants, each parent before its children."""
        ...

    async def usage(self, session: SessionId) -> "Stats":
        """Return the usage of a session and its sub-agents."""
        ...

    async def export(self, session: SessionId, form: "Format") -> str:
        """Return a session as a document."""
        ...


class PanelHost(Protocol):
    """The operations of the app that panels may use."""

    @property
    def app(self) -> App[Any]:
        """The app that shows the panels."""
        ...

    @property
    def api(self) -> SessionApi:
        """The session API; raises BridleError while there is none."""
        ...

    @property
    def folders(self) -> "FolderQueries":
        """The queries about folders; raises BridleError while there is no session API."""
        ...

    @property
    def views(self) -> SessionViews:
        """The views of sessions for panels."""
        ...

    @property
    def head(self) -> Head | None:
        """The state of the current session; None if there is none yet."""
        ...

    @property
    def live(self) -> Mapping[SessionId, LiveSession]:
        """The sessions in memory, as of the latest news."""
        ...

    @property
    def cwd(self) -> str:
        """The folder for a new session."""
        ...

    @property
    def diff_style(self) -> DiffStyle:
        """The style in which diffs are first shown."""
        ...

    def key_text(self, name: str) -> str:
        """Return the keys of an action in the key table, as shown to the user."""
        ...

    def is_typing(self) -> bool:
        """Return True if the prompt is not empty: then nothing may take the focus from it."""
        ...

    def focus_prompt(self) -> None:
        """Move the focus to the prompt."""
        ...

    def open_session(self, session: SessionId) -> None:
        """Show a session."""
        ...

    def new_session(self, cwd: str = "") -> None:
        """Show an empty new session in a folder, by default that of the current session."""
        ...

    def session_gone(self, session: SessionId) -> None:
        """Stop showing a session that was deleted."""
        ...

    def choose_model(self, ref: str) -> None:
        """Use this model from the next prompt on."""
        ...

    def choose_agent(self, name: str) -> None:
        """Use this agent from the next prompt on."""
        ...

    def choose_mode(self, mode: Mode) -> None:
        """Run the next prompts in this mode."""
        ...

    def choose_effort(self, effort: Effort) -> None:
        """Let models reason this much from the next prompt on."""
        ...

    def choose_theme(self, name: str) -> None:
        """Use this color theme."""
        ...

    def choose_diff_style(self, style: DiffStyle) -> None:
        """Show diffs in this style from now on."""
        ...

    def last_answer(self) -> str:
        """Return the last answer of the model in the current session; empty if there is none."""
        ...

    def open_web(self) -> None:
        """Open the web page."""
        ...


# ---------------------------------------------------------------------------- open windows


@runtime_checkable
class FollowsHead(Protocol):
    """A window that shows the current session's state."""

    def show_head(self, head: Head | None) -> None:
        """Show the current state."""
        ...


def update_windows(app: App[Any], head: Head | None) -> None:
    """Update every open window that follows the current session; call it on every HeadChanged."""
    for screen in app.screen_stack[1:]:
        if isinstance(screen, FollowsHead) and screen.is_mounted:
            screen.show_head(head)
