"""What panels can use: the session API, questions about folders, and what the app does for them.

```
panel ──▶ PanelHost ──▶ the app: opens sessions, chooses models, moves the focus
              ├─ api ──────▶ SessionApi: commands and questions, each may raise BridleError
              ├─ folders ──▶ agents, models and servers of a folder
              └─ views ────▶ what takes more than one question
```
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct
from textual.app import App

from bridle.core.ids import SessionId
from bridle.core.permission import Mode
from bridle.core.protocol import Outcome
from bridle.core.session_api import LiveSession, SessionApi
from bridle.surfaces.view_model.view_types import Head

if TYPE_CHECKING:  # the first frame does not wait for them
    from bridle.surfaces.export import Format
    from bridle.surfaces.folder_queries import FolderQueries
    from bridle.surfaces.usage import Stats

DiffStyle = Literal["unified", "side-by-side"]
"""How a diff is shown where there is room for both."""


class Point(Struct, frozen=True):
    """A place in a session to go back to: right before a prompt."""

    seq: int
    """The record after which everything was as it would be again."""
    at: int
    """When the prompt was given, in milliseconds since 1970."""
    prompt: str
    turns: int = 0
    """How many turns its run has made; they leave the conversation."""
    files: int = 0
    """How many changes of files these turns have made."""
    undo: bool = False
    """It is not before a prompt, but before the last rewind."""


class Child(Struct, frozen=True):
    """A sub-agent, and what it and all below it have used."""

    id: SessionId
    parent: SessionId
    name: str
    task: str = ""
    agent: str = ""
    model: str = ""
    running: bool = False
    outcome: Outcome | None = None
    """None while it works, or when its end is not recorded."""
    turns: int = 0
    tokens: int = 0
    cost: float | None = None


class SessionViews(Protocol):
    """What panels show of sessions that takes more than one question; everything here raises BridleError."""

    async def points(self, session: SessionId) -> Sequence[Point]:
        """Return where one can go back to, newest first."""
        ...

    async def children(self, session: SessionId) -> Sequence[Child]:
        """Return the sub-agents of a session and those below them, a parent before its children."""
        ...

    async def usage(self, session: SessionId) -> "Stats":
        """Return what a session and its sub-agents have used."""
        ...

    async def export(self, session: SessionId, form: "Format") -> str:
        """Return a session as a document."""
        ...


class PanelHost(Protocol):
    """What the app does for panels."""

    @property
    def app(self) -> App[Any]:
        """Return the app that shows the panels."""
        ...

    @property
    def api(self) -> SessionApi:
        """Return the session API; raises BridleError while there is none."""
        ...

    @property
    def folders(self) -> "FolderQueries":
        """Return what answers questions about folders; raises BridleError while there is no session API."""
        ...

    @property
    def views(self) -> SessionViews:
        """Return what panels show of sessions."""
        ...

    @property
    def head(self) -> Head | None:
        """Return how the session in front is; None when there is none yet."""
        ...

    @property
    def live(self) -> Mapping[SessionId, LiveSession]:
        """Return the sessions that are in memory, as the news tell."""
        ...

    @property
    def cwd(self) -> str:
        """Return the folder that a new session works in."""
        ...

    @property
    def diff_style(self) -> DiffStyle:
        """Return how diffs are shown at first."""
        ...

    def key_words(self, name: str) -> str:
        """Return the keys of an action of the table of keys, as people write them."""
        ...

    def is_typing(self) -> bool:
        """Tell whether something stands in the prompt: then nothing may take the focus from it."""
        ...

    def focus_prompt(self) -> None:
        """Move the focus to the prompt."""
        ...

    def open_session(self, session: SessionId) -> None:
        """Show a session."""
        ...

    def new_session(self, cwd: str = "") -> None:
        """Begin a session in a folder, or in that of the session in front, with its first prompt."""
        ...

    def session_gone(self, session: SessionId) -> None:
        """Stop showing a session that was deleted."""
        ...

    def choose_model(self, ref: str) -> None:
        """Ask this model from the next prompt on."""
        ...

    def choose_agent(self, name: str) -> None:
        """Have this agent answer from the next prompt on."""
        ...

    def choose_mode(self, mode: Mode) -> None:
        """Run the next prompts in this mode."""
        ...

    def choose_theme(self, name: str) -> None:
        """Show everything in these colours."""
        ...

    def choose_diff_style(self, style: DiffStyle) -> None:
        """Show diffs like this from now on."""
        ...

    def last_answer(self) -> str:
        """Return what the model has said last in the session in front; empty when it has said nothing."""
        ...

    def open_web(self) -> None:
        """Open the web page."""
        ...
