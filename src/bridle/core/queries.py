"""Queries about sessions: each is a struct that any surface can send.

```
await api.ask(PlanRewind(session, 12))  ─▶  RewindPlan
```

The type argument of a query is the type of its answer. To add a query, write its struct here and its handler
in `sessions/queries.py`. With `published`, clients can send it too.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, Union, get_args

from msgspec import Struct

from bridle.core.context import ContextUsage
from bridle.core.errors import BridleError, ProviderError, SessionBusy
from bridle.core.ids import SessionId
from bridle.core.messages import Message
from bridle.core.protocol import Record
from bridle.core.protocol.values import snake
from bridle.core.revision import FileChange
from bridle.core.server_views import PeerMessage, PeerView, PromptView, ServerView
from bridle.core.session_status import SessionStatus
from bridle.core.summary import SessionSummary
from bridle.core.tenancy import Scope
from bridle.core.tool import ToolSpec

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)

Answerer = Literal["any", "owner", "worker"]
"""`any`: a process with the store; `owner`: the driver of the session; `worker`: one that runs tools."""


class RewindPlan(Struct, frozen=True):
    """What a rewind would do."""

    to_seq: int
    changes: tuple[FileChange, ...] = ()
    """From the present files to those after the rewind."""
    conflicts: tuple[str, ...] = ()
    """Paths that something other than this session has changed since."""
    lost: tuple[str, ...] = ()
    """Paths whose earlier content was too large to keep."""


class Diff(Struct, frozen=True):
    """The changes of a session on disk."""

    changes: list[FileChange]
    text: str
    """The changes as a unified diff."""


class NextContext(Struct, frozen=True):
    """The model request that a turn of a session would send."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    usage: ContextUsage
    tokens: tuple[int, ...] = ()
    """The estimated tokens of each message."""


class Published(Struct, frozen=True):
    """How REST, JSON-RPC, ACP and MCP publish a query about a session, with the first line of its docstring.

    They list the queries in the order of this module.
    """

    path: str
    """The REST path below `/sessions/{id}/`."""
    name: str = ""
    """The name of its method in JSON-RPC and ACP, and of its action in MCP; empty for its tag."""
    action: str = ""
    """The name of its action in MCP, if it is not `name`."""
    raises: tuple[type[BridleError], ...] = (SessionBusy,)


class Query(Struct, Generic[A_co], frozen=True, tag=snake, omit_defaults=True):
    """A query; the type argument is the type of its answer."""

    scope: ClassVar[Scope] = "read"
    """The scope that a token needs to send it."""
    answered_by: ClassVar[Answerer] = "any"
    """Which process of a cluster answers it."""
    published: ClassVar[Published | None] = None
    """How clients see it; None if no surface takes it as it is."""


class Records(Query[list[Record]], frozen=True):
    """The stored records of a session, in order; raises SessionNotFound."""

    session: SessionId
    after: int = 0
    limit: int | None = None


class ListSessions(Query[Sequence[SessionSummary]], frozen=True, tag="list"):
    """A summary of every session, newest first."""

    archived: bool = False


class Status(Query[SessionStatus], frozen=True):
    """The state of a session, without its messages; raises SessionNotFound."""

    session: SessionId


class IsRunning(Query[bool], frozen=True):
    """Whether a process drives a run of the session."""

    session: SessionId


class Changes(Query[Sequence[FileChange]], frozen=True):
    """The net changes of the session on disk with after < seq <= upto."""

    answered_by = "owner"
    session: SessionId
    after: int = 0
    upto: int | None = None


class Describe(Query[str], frozen=True):
    """The text of a unified diff of these changes."""

    changes: Sequence[FileChange]


class ShowDiff(Query[Diff], frozen=True, tag="diff"):
    """Return what a session changed on disk.

    The answer has the net changes with after < seq <= upto, and their diff.
    """

    answered_by = "owner"
    published = Published("diff", action="changes")
    session: SessionId
    after: int = 0
    upto: int | None = None


class PlanRewind(Query[RewindPlan], frozen=True):
    """Say what going back would do to the files, without doing it.

    Raises UsageError like the rewind.
    """

    answered_by = "owner"
    published = Published("rewind")
    session: SessionId
    to_seq: int


class PreviewContext(Query[NextContext], frozen=True, tag="next_context"):
    """Return what the next turn would send to the model.

    With `at`, the answer is what it would have sent after that record.
    """

    answered_by = "owner"
    published = Published("context", name="context", raises=(SessionBusy, ProviderError))
    session: SessionId
    at: int | None = None


class Servers(Query[Sequence[ServerView]], frozen=True):
    """The state of the MCP servers and language servers of a folder; starts none."""

    answered_by = "worker"
    cwd: str


class ServerPrompts(Query[Sequence[PromptView]], frozen=True):
    """The prompts of MCP servers, which a user can call as `/name`."""

    answered_by = "worker"
    cwd: str


class Peers(Query[Sequence[PeerView]], frozen=True):
    """The agents in other processes that a session can write to; raises ConfigError if comms are off."""

    answered_by = "owner"
    session: SessionId


class WriteToPeer(Query[str], frozen=True):
    """Send a message to a peer and return its id; the session gets the replies. Raises BridleError."""

    scope = "run"
    answered_by = "owner"
    session: SessionId
    message: PeerMessage


QUERIES: tuple[type[Query[Any]], ...] = tuple(Query.__subclasses__())
"""The queries above, in their order."""

if TYPE_CHECKING:
    AnyQuery: TypeAlias = Query[Any]
else:
    AnyQuery = Union[QUERIES]  # noqa: UP007  a union at runtime; tags tell the queries apart


@cache
def answer_type(kind: type[Query[A]]) -> type[A]:
    """Return the type to decode an answer as."""
    # `Generic` sets `__orig_bases__`.
    [base] = (base for base in kind.__orig_bases__ if get_args(base))  # type: ignore[attr-defined]
    found: type[A] = get_args(base)[0]
    return found
