"""The session API: how every surface uses sessions, in this process or in the daemon.

A command changes a session (`submit`); a query only reads (`ask`, see core/queries.py).
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from msgspec import Struct

from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Message
from bridle.core.protocol import LIKE_AGENT, AnyCommand, Delta, Record, SessionOptions
from bridle.core.queries import Query

if TYPE_CHECKING:  # a thin client has no tools
    from bridle.core.ports import ToolDispatcher

A = TypeVar("A")


class Receipt(Struct, frozen=True):
    """The result of an accepted command."""

    seq: int
    """The newest sequence number of the session after the command was accepted."""
    run_id: RunId | None = None
    item_id: str | None = None
    repeated: bool = False
    """True if the prompt was accepted before, under the same key."""


class ForkReceipt(Receipt, frozen=True, kw_only=True):
    """The result of a fork."""

    session: SessionId
    """The child session."""


class SessionNews(Struct, frozen=True, omit_defaults=True):
    """A session was created, closed, deleted or renamed, or its state changed."""

    session: SessionId
    live: "LiveSession | None" = None
    """Its present state; None if it is not in memory."""
    deleted: bool = False


class LiveSession(Struct, frozen=True, omit_defaults=True):
    """A session that is in memory."""

    id: SessionId
    title: str
    cwd: str
    agent: str
    state: Literal["running", "waiting", "idle"]
    """`waiting`: for a person's answer."""
    model: str = ""
    watchers: int = 0
    since: int = 0
    """When its run started, in milliseconds since 1970."""


class SessionApi(Protocol):
    """Creates, drives, watches and reads sessions."""

    @property
    def is_remote(self) -> bool:
        """True if the sessions live in another process: their runs continue when this one ends."""
        ...

    async def create(
        self,
        *,
        cwd: str,
        agent: str = "",
        title: str = "",
        session_id: SessionId | None = None,
        options: SessionOptions = LIKE_AGENT,
        messages: Sequence[Message] = (),
        labels: Mapping[str, str] = {},
    ) -> SessionId:
        """Create a session with an agent, or the default one, and the options of its runs.

        It begins with `messages`, before those of its first run. Raises ConfigError for an unknown agent,
        UsageError for options that no run could start with.
        """
        ...

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        """Submit a command to a session; raises SessionError if it is refused."""
        ...

    async def ask(self, query: Query[A]) -> A:
        """Answer a query; raises the BridleError that the query documents."""
        ...

    @overload
    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]: ...

    @overload
    def watch(self, session: None) -> AsyncGenerator[SessionNews, None]: ...

    def watch(self, session: SessionId | None, after: int | None = 0) -> AsyncGenerator[Any, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between.

        With `after` None, the newest record comes first: the caller then misses nothing later.
        The generator never ends by itself. A slow watcher gets Lagged and loses deltas, but no record.
        Raises SessionNotFound, also when the session is deleted.

        With `session` None, yield the state of every session in memory, then each change. A slow watcher
        gets only the newest state of each session.
        """
        ...

    def provide_tools(
        self, session: SessionId, dispatcher: "ToolDispatcher"
    ) -> AbstractAsyncContextManager[None]:
        """Let the session's runs call tools of the caller while the context is open.

        Runs that start afterwards get these client tools; one with the name of a built-in tool replaces
        it. Entering the context raises SessionNotFound, or UsageError for an invalid tool.
        """
        ...

    async def aclose(self) -> None:
        """Release connections and other resources."""
        ...
