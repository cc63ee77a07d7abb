"""The door: what every surface can ask of sessions, whether they live in this process or in the daemon."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from bridle.core.context import ContextUsage
from bridle.core.glance import Glance
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Message
from bridle.core.protocol import Command, Delta, Record, RunEnded
from bridle.core.revision import FileChange
from bridle.core.session import Session
from bridle.core.summary import SessionSummary
from bridle.core.tool import ToolSpec

if TYPE_CHECKING:  # a thin client has neither tools nor servers
    from bridle.core.ports import ToolDispatcher
    from bridle.core.servers import PromptView, ServerView


class Receipt(Struct, frozen=True):
    """What became of a command."""

    seq: int
    """The session's newest sequence number once the command was taken."""
    run_id: RunId | None = None
    item_id: str | None = None
    repeated: bool = False
    """The prompt was taken before, under the same key."""


class RewindPlan(Struct, frozen=True):
    """What a rewind would do."""

    to_seq: int
    changes: tuple[FileChange, ...] = ()
    """From what lies there now to what would."""
    conflicts: tuple[str, ...] = ()
    """Paths that somebody else has changed since."""
    lost: tuple[str, ...] = ()
    """Paths whose earlier content was too large to keep."""


class NextContext(Struct, frozen=True):
    """What a turn of a session would send."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    usage: ContextUsage
    tokens: tuple[int, ...] = ()
    """Of each message."""


class SessionNews(Struct, frozen=True, omit_defaults=True):
    """A session began, ended, was named, or changed what it does."""

    session: SessionId
    live: "LiveSession | None" = None
    """How it is now; None when it is not in memory."""
    deleted: bool = False


class LiveSession(Struct, frozen=True, omit_defaults=True):
    """A session that is in memory."""

    id: SessionId
    title: str
    cwd: str
    agent: str
    state: Literal["running", "waiting", "idle"]
    """Waiting is for the answer of a person."""
    model: str = ""
    watchers: int = 0
    since: int = 0
    """When its run began, in milliseconds since 1970."""


class Door(Protocol):
    """Creates, drives, watches and reads sessions."""

    @property
    def outlives_us(self) -> bool:
        """Tell whether the sessions are in another process, where runs go on without this one."""
        ...

    async def create(
        self, *, cwd: str, agent: str = "", title: str = "", session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a session with an agent, or the usual one; raises ConfigError for an unknown agent."""
        ...

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session; raises SessionError when it cannot be taken."""
        ...

    def lend(self, session: SessionId, dispatcher: "ToolDispatcher") -> AbstractAsyncContextManager[None]:
        """Let the runs of a session call tools of the caller's own, as long as the context is open.

        Runs that begin afterwards have them, also in the place of Bridle's own of the same name; entering
        raises SessionNotFound, or UsageError for what cannot be a tool.
        """
        ...

    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between.

        With None the newest record comes first: then the caller knows that nothing later is missed.
        Never ends by itself. A watcher that falls behind gets Lagged, loses deltas and no record.
        Raises SessionNotFound, also once the session is deleted.
        """
        ...

    async def wait(self, session: SessionId, run_id: RunId, after: int = 0) -> RunEnded:
        """Wait for a run's end."""
        ...

    async def read(self, session: SessionId) -> Session:
        """Return the whole session as stored."""
        ...

    async def glance(self, session: SessionId) -> Glance:
        """Say how a session is, without its messages; raises SessionNotFound."""
        ...

    def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield how every session in memory is, and from then on each that changes; never ends by itself.

        A reader that falls behind hears of a session once, as it is by then.
        """
        ...

    async def records(self, session: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return stored records in order; raises SessionNotFound."""
        ...

    async def list(self, *, archived: bool = False) -> "Sequence[SessionSummary]":
        """Return a summary of every session, newest first."""
        ...

    async def is_running(self, session: SessionId) -> bool:
        """Tell whether somebody drives a run of the session, in whichever process."""
        ...

    async def fork(
        self, session: SessionId, at: int | None = None, *, session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a child session with the messages up to sequence number `at` (default: all)."""
        ...

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good; raises SessionBusy while it runs."""
        ...

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        """Say what going back would do to the files, without doing it."""
        ...

    async def changes(
        self, session: SessionId, after: int = 0, upto: int | None = None
    ) -> Sequence[FileChange]:
        """Return what the session changed on disk with after < seq <= upto, as one step."""
        ...

    async def describe(self, changes: Sequence[FileChange]) -> str:
        """Show changes as a diff."""
        ...

    async def next_context(self, session: SessionId, at: int | None = None) -> NextContext:
        """Return what the next turn would send, without sending it, or would have sent after record `at`."""
        ...

    async def servers(self, cwd: str) -> "Sequence[ServerView]":
        """Say how the tool servers and language servers of a folder are, without starting one."""
        ...

    async def server_prompts(self, cwd: str) -> "Sequence[PromptView]":
        """Return the prompts of servers that a prompt can call as `/name`."""
        ...

    async def aclose(self) -> None:
        """Let go of what was opened."""
        ...
