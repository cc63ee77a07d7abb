"""What happens to a session, its queue, its runs and their sub-agents."""

from typing import Any

from bridle.core.budget import BudgetKind, Limits
from bridle.core.errors import ProviderErrorKind
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Usage
from bridle.core.permission import Mode
from bridle.core.protocol.commands import Delivery, RewindScope, RunOptions
from bridle.core.protocol.values import AuditOutcome, EventKind, MessageSource, Outcome, PromptKey, Todo


class SessionCreated(EventKind, frozen=True):
    session_id: SessionId
    cwd: str
    agent: str = "default"
    title: str = ""
    parent: SessionId | None = None
    forked_at: int | None = None
    """The parent's sequence number up to which messages were copied."""


class SessionTitled(EventKind, frozen=True):
    title: str
    model: str = ""
    """The model that wrote it; empty when a person did."""
    usage: Usage = Usage()
    cost: float | None = None


class SessionArchived(EventKind, frozen=True):
    archived: bool


class PromptQueued(EventKind, frozen=True):
    item_id: str
    message: Message
    options: RunOptions = RunOptions()
    delivery: Delivery = "queue"
    source: MessageSource | None = None
    """Who it is from, where that is not a person."""
    key: PromptKey | None = None


class QueueEdited(EventKind, frozen=True):
    item_id: str
    message: Message
    delivery: Delivery | None = None
    """How it is delivered from now on; None as before."""


class QueueDropped(EventKind, frozen=True):
    item_id: str


class RunStarted(EventKind, frozen=True):
    """A run began."""

    run_id: RunId
    model: str
    mode: Mode = "ask"
    limits: Limits = Limits()
    options: RunOptions = RunOptions()
    """What was asked for with the prompt: after a crash the same rules hold."""
    key: PromptKey | None = None


class RunResumed(EventKind, frozen=True):
    """A run goes on after its process ended; `interrupted` names the calls it was cut off in."""

    run_id: RunId
    interrupted: tuple[CallId, ...] = ()


class Rewound(EventKind, frozen=True):
    """The conversation is again what it was after `to_seq`, the files too, as far as `scope` says."""

    to_seq: int
    scope: RewindScope = "all"
    todos: tuple[Todo, ...] = ()
    """The list as it was then."""
    left: tuple[str, ...] = ()
    """What could not be brought back, in words."""
    snapshot: str = ""
    """What the kernel held then."""


class Pinned(EventKind, frozen=True):
    text: str
    pinned: bool = True


class ChildStarted(EventKind, frozen=True):
    """A sub-agent works, in a session of its own."""

    child: SessionId
    name: str
    task: str
    """The beginning of its prompt."""
    call_id: CallId | None = None
    agent: str = ""
    model: str = ""
    background: bool = False
    base: str = ""
    """The commit that its git worktree began with; empty for one that works where its parent does."""


class ChildEnded(EventKind, frozen=True):
    """What a sub-agent and all below it have used; it counts for this run too."""

    child: SessionId
    outcome: Outcome
    reason: str = ""
    turns: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    duration_ms: int = 0


class BudgetWarned(EventKind, frozen=True):
    kind: BudgetKind
    used: float
    limit: float


class BudgetExhausted(EventKind, frozen=True):
    kind: BudgetKind
    used: float
    limit: float


class Audited(EventKind, frozen=True):
    """Somebody did something, or was kept from it; in the journals of the audit only."""

    tenant: str
    """In whose name."""
    user: str
    token_id: str
    action: str
    target: str
    """What it was done to: a session, a token, a tenant."""
    outcome: AuditOutcome
    acted_at: int
    """In milliseconds since 1970; it may be recorded a moment later."""


class RunEnded(EventKind, frozen=True):
    """The last event of a run, always."""

    run_id: RunId
    outcome: Outcome
    text: str = ""
    reason: str = ""
    """Why, for every outcome but "completed"."""
    turns: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    structured: Any = None
    """The value that fits the output schema, where one was asked for."""
    schema_warnings: tuple[str, ...] = ()
    """What of the schema the vendor could not hold its model to."""
    error: ProviderErrorKind | None = None
    """How the model failed, where that ended the run."""
