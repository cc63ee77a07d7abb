"""Questions to sessions, as data.

```
await api.ask(PlanRewind(session, 12))  ─▶  RewindPlan
```

Each question is a struct; its type argument is the type of its answer. To add one, write its struct here, add
it to `AnyQuery`, and write its handler in `sessions/queries.py`.
"""

from collections.abc import Sequence
from functools import cache
from typing import ClassVar, Generic, Literal, TypeVar, get_args

from msgspec import Struct

from bridle.core.context import ContextUsage
from bridle.core.ids import SessionId
from bridle.core.messages import Message
from bridle.core.protocol import Record
from bridle.core.protocol.names import snake
from bridle.core.revision import FileChange
from bridle.core.server_views import PromptView, ServerView
from bridle.core.session_status import SessionStatus
from bridle.core.summary import SessionSummary
from bridle.core.tenancy import Scope
from bridle.core.tool import ToolSpec

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)

Answerer = Literal["any", "owner", "worker"]
"""Any process that sees the store; the one that drives the session; one that runs tools."""


class RewindPlan(Struct, frozen=True):
    """What a rewind would do."""

    to_seq: int
    changes: tuple[FileChange, ...] = ()
    """From what lies there now to what would."""
    conflicts: tuple[str, ...] = ()
    """Paths that somebody else has changed since."""
    lost: tuple[str, ...] = ()
    """Paths whose earlier content was too large to keep."""


class Diff(Struct, frozen=True):
    """What a session changed on disk."""

    changes: list[FileChange]
    text: str
    """As a unified diff."""


class NextContext(Struct, frozen=True):
    """What a turn of a session would send."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    usage: ContextUsage
    tokens: tuple[int, ...] = ()
    """Of each message."""


class Query(Struct, Generic[A_co], frozen=True, tag=snake, omit_defaults=True):
    """A question; the type argument is the type of its answer."""

    scope: ClassVar[Scope] = "read"
    """The scope that a token needs to ask it."""
    answered_by: ClassVar[Answerer] = "any"
    """Which process of a cluster answers."""


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


class PlanRewind(Query[RewindPlan], frozen=True):
    """What going back would do to the files, without doing it; raises UsageError as the rewind would."""

    answered_by = "owner"
    session: SessionId
    to_seq: int


class Changes(Query[Sequence[FileChange]], frozen=True):
    """What the session changed on disk with after < seq <= upto, as one step."""

    answered_by = "owner"
    session: SessionId
    after: int = 0
    upto: int | None = None


class Describe(Query[str], frozen=True):
    """Changes as a diff."""

    changes: Sequence[FileChange]


class ShowDiff(Query[Diff], frozen=True, tag="diff"):
    """What the session changed on disk with after < seq <= upto, and the same as a diff."""

    answered_by = "owner"
    session: SessionId
    after: int = 0
    upto: int | None = None


class PreviewContext(Query[NextContext], frozen=True, tag="next_context"):
    """What the next turn would send, or would have sent after record `at`."""

    answered_by = "owner"
    session: SessionId
    at: int | None = None


class Servers(Query[Sequence[ServerView]], frozen=True):
    """The state of the MCP servers and language servers of a folder; starts none."""

    answered_by = "worker"
    cwd: str


class ServerPrompts(Query[Sequence[PromptView]], frozen=True):
    """The prompts of servers that a prompt can call as `/name`."""

    answered_by = "worker"
    cwd: str


AnyQuery = (
    Records
    | ListSessions
    | Status
    | IsRunning
    | PlanRewind
    | Changes
    | Describe
    | ShowDiff
    | PreviewContext
    | Servers
    | ServerPrompts
)


@cache
def answer_type(kind: type[Query[A]]) -> type[A]:
    """Return the type to decode an answer as."""
    [base] = (base for base in kind.__orig_bases__ if get_args(base))  # type: ignore[attr-defined]  # as of Generic
    found: type[A] = get_args(base)[0]
    return found
