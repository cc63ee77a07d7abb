"""Events of a session, its queue, its runs and their sub-agents."""

from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from bridle.core.budget import BudgetKind, Limits
from bridle.core.errors import ProviderErrorKind
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Usage
from bridle.core.permission import Mode
from bridle.core.protocol.commands import Delivery, RewindScope, RunOptions, SessionOptions
from bridle.core.protocol.values import AuditOutcome, EventKind, MessageSource, Outcome, PromptKey, Todo


class SessionCreated(EventKind, frozen=True):
    session_id: SessionId
    cwd: str
    agent: str = "default"
    title: str = ""
    parent: SessionId | None = None
    forked_at: int | None = None
    """Messages were copied from the parent up to this sequence number."""
    options: SessionOptions = SessionOptions()
    """How it was made: its runs start with them."""
    labels: dict[str, str] = field(default_factory=dict)


class SessionConfigured(EventKind, frozen=True):
    """The options of the session changed; runs that start afterwards have these."""

    options: SessionOptions


class SessionTitled(EventKind, frozen=True):
    title: str
    model: str = ""
    """The model that wrote the title; empty if a person did."""
    usage: Usage = Usage()
    cost: float | None = None


class SessionLabelled(EventKind, frozen=True):
    """The labels of the session changed; these are all of them."""

    labels: dict[str, str]


class SessionArchived(EventKind, frozen=True):
    archived: bool


class PromptQueued(EventKind, frozen=True):
    item_id: str
    message: Message
    options: RunOptions = RunOptions()
    delivery: Delivery = "queue"
    source: MessageSource | None = None
    """The sender, if it is not a person."""
    key: PromptKey | None = None


class QueueEdited(EventKind, frozen=True):
    item_id: str
    message: Message
    delivery: Delivery | None = None
    """The new delivery; None for no change."""


class QueueDropped(EventKind, frozen=True):
    item_id: str


class RunStarted(EventKind, frozen=True):
    """A run started."""

    run_id: RunId
    model: str
    mode: Mode = "ask"
    limits: Limits = Limits()
    options: RunOptions = RunOptions()
    """The options of the session and the prompt, so that the same rules apply after a crash."""
    key: PromptKey | None = None


class RunResumed(EventKind, frozen=True):
    """A run resumes after its process died; `interrupted` lists the calls that were running."""

    run_id: RunId
    interrupted: tuple[CallId, ...] = ()


class Rewound(EventKind, frozen=True):
    """The conversation, the files or both, as `scope` says, are back in their state after `to_seq`."""

    to_seq: int
    scope: RewindScope = "all"
    todos: tuple[Todo, ...] = ()
    """The to-do list at that time."""
    left: tuple[str, ...] = ()
    """Messages about what could not be restored."""
    snapshot: str = ""
    """Digest of the kernel's snapshot at that time."""


class Pinned(EventKind, frozen=True):
    text: str
    pinned: bool = True


class ChildStarted(EventKind, frozen=True):
    """A sub-agent started, in a separate session."""

    child: SessionId
    name: str
    task: str
    """The start of its prompt."""
    call_id: CallId | None = None
    agent: str = ""
    model: str = ""
    background: bool = False
    base: str = ""
    """The commit that its git worktree started from; empty if it works in its parent's folder."""


class ChildEnded(EventKind, frozen=True):
    """A sub-agent ended; the use of it and all below it counts for this run too."""

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
    """A user did something, or was refused; only in audit journals."""

    tenant: str
    """The user's tenant."""
    user: str
    token_id: str
    action: str
    target: str
    """The object of the action: a session, a token, a tenant."""
    outcome: AuditOutcome
    acted_at: int
    """In milliseconds since 1970; it may be recorded a moment later."""


class RunEnded(EventKind, frozen=True):
    """The last event of a run, always."""

    run_id: RunId
    outcome: Outcome
    text: str = ""
    reason: str = ""
    """Why the run ended, for every outcome except "completed"."""
    turns: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    structured: Any = None
    """The value that fits the output schema, if one was given."""
    schema_warnings: tuple[str, ...] = ()
    """Parts of the schema that the vendor could not enforce."""
    error: ProviderErrorKind | None = None
    """How the model failed, if that ended the run."""


# ---------------------------------------------------------------------------- facts
# The facts of a session, all but its messages, and the checkpoint event that stores them.


class QueuedPrompt(Struct, frozen=True, omit_defaults=True):
    """A prompt that waits for the next turn (steer) or for the run to end (queue)."""

    item_id: str
    message: Message
    options: RunOptions = RunOptions()
    delivery: Delivery = "queue"
    source: MessageSource | None = None
    key: PromptKey | None = None


class TakenPrompt(Struct, frozen=True, omit_defaults=True):
    """The run or queue item of a prompt that came with a key."""

    digest: str
    run_id: RunId | None = None
    item_id: str | None = None


class Totals(Struct, frozen=True, omit_defaults=True):
    """What a session has used so far."""

    messages: int = 0
    runs: int = 0
    turns: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float = 0.0
    unpriced_turns: int = 0
    """Turns whose price is unknown and therefore missing from `cost`."""


class SessionFacts(Struct, frozen=True, omit_defaults=True):
    """Everything about a session except its messages: the content of a checkpoint."""

    created: SessionCreated
    created_at: int = 0
    title: str = ""
    model: str = ""
    """The model of the next run: that of the last one, or as the session was made or configured."""
    archived: bool = False
    granted: tuple[str, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()
    totals: Totals = Totals()
    todos: tuple[Todo, ...] = ()
    snapshot: str = ""
    """Digest of the kernel's snapshot."""
    rewinds: int = 0
    """How often the conversation was rewound; each rewind restores the kernel too."""
    seen: dict[str, str] = {}
    """Digests of the files that the model has seen, by path; the newest few hundred."""
    pins: tuple[str, ...] = ()
    """Texts that every compaction keeps word for word."""
    taken: dict[str, TakenPrompt] = {}
    """The newest prompts that came with a key."""
    options: SessionOptions = SessionOptions()
    """The options of the next run, without the model."""
    labels: dict[str, str] = {}

    @property
    def settings(self) -> SessionOptions:
        """All options of the next run, as a command may change them."""
        return replace(self.options, model=self.model or None)


class Checkpoint(EventKind, frozen=True):
    """The current facts, stored so that opening a session need not read all its records."""

    facts: SessionFacts
