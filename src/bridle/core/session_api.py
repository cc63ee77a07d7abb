"""The session API: what every surface can do with sessions, in this process or in the daemon.

A command changes something (`submit`), a question does not (`ask`, see core/queries.py).
"""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from msgspec import Struct

from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import AnyCommand, Delta, Record
from bridle.core.queries import Query

if TYPE_CHECKING:  # a thin client has no tools
    from bridle.core.ports import ToolDispatcher

A = TypeVar("A")


class Receipt(Struct, frozen=True):
    """What became of a command."""

    seq: int
    """The session's newest sequence number once the command was taken."""
    run_id: RunId | None = None
    item_id: str | None = None
    repeated: bool = False
    """The prompt was taken before, under the same key."""


class ForkReceipt(Receipt, frozen=True, kw_only=True):
    """What became of a fork."""

    session: SessionId
    """The child session."""


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


class SessionApi(Protocol):
    """Creates, drives, watches and reads sessions."""

    @property
    def is_remote(self) -> bool:
        """True when the sessions are in another process, where runs go on without this one."""
        ...

    async def create(
        self, *, cwd: str, agent: str = "", title: str = "", session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a session with an agent, or the default one; raises ConfigError for an unknown agent."""
        ...

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        """Hand a command to a session; raises SessionError when it cannot be taken."""
        ...

    async def ask(self, query: Query[A]) -> A:
        """Answer a question; raises BridleError, as the question says."""
        ...

    @overload
    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]: ...

    @overload
    def watch(self, session: None) -> AsyncGenerator[SessionNews, None]: ...

    def watch(self, session: SessionId | None, after: int | None = 0) -> AsyncGenerator[Any, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between.

        With `after` None the newest record comes first: then the caller knows that nothing later is missed.
        Never ends by itself. A watcher that falls behind gets Lagged, loses deltas and no record.
        Raises SessionNotFound, also once the session is deleted.

        With `session` None yield the state of every session in memory, then each change. A watcher that
        falls behind hears of a session once, with its newest state.
        """
        ...

    def provide_tools(
        self, session: SessionId, dispatcher: "ToolDispatcher"
    ) -> AbstractAsyncContextManager[None]:
        """Let the runs of a session call tools of the caller, as long as the context is open.

        Runs that begin afterwards have them; one with the name of a tool of Bridle replaces it. Entering
        raises SessionNotFound, or UsageError for what cannot be a tool.
        """
        ...

    async def aclose(self) -> None:
        """Release what was opened."""
        ...
