"""What is kept of a session."""

from typing import Any, Literal

from msgspec import Struct

from bridle.core.budget import BudgetKind, Limits
from bridle.core.context import ContextUsage
from bridle.core.errors import ProviderErrorKind
from bridle.core.hook import HookPoint, Patch, ReasonCode
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, StopReason, ToolResult, Usage
from bridle.core.permission import Mode
from bridle.core.protocol.commands import Answer, Delivery, RewindScope, RunOptions
from bridle.core.protocol.names import snake
from bridle.core.revision import FileChange

Outcome = Literal["completed", "denied", "cancelled", "failed", "budget_exhausted", "limit"]
MessageSource = Literal["prompt", "steer", "fork", "import", "child", "peer", "check", "extract"]
"""Of the last four: a sub-agent's result, a message of another agent, what a failed `until` command printed,
and the request for a value that fits the output schema."""
AuditOutcome = Literal["done", "refused", "failed"]
CompactionTrigger = Literal["automatic", "manual", "overflow"]


class EventKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """A fact that is stored."""


class SeenFile(Struct, frozen=True, omit_defaults=True):
    """A file as the model last saw it."""

    path: str
    digest: str
    """SHA-256 of its bytes."""


class Todo(Struct, frozen=True, omit_defaults=True):
    """One thing to do."""

    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class Question(Struct, frozen=True, omit_defaults=True):
    """What the model asks the user."""

    text: str
    choices: tuple[str, ...] = ()
    """Suggested answers; the user may always write another one."""
    several: bool = False
    """More than one choice may be taken."""


class PromptKey(Struct, frozen=True):
    """By what a client knows a prompt of its own again, should it have to send it twice."""

    name: str
    digest: str
    """Of the prompt."""


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


class MessageAdded(EventKind, frozen=True):
    """A message joined the conversation; `source` says whence."""

    message: Message
    source: MessageSource = "prompt"
    tokens: int = 0
    item_id: str | None = None
    """The queued prompt this message takes out of the queue."""


class TurnStarted(EventKind, frozen=True):
    run_id: RunId
    turn: int


class ModelReplied(EventKind, frozen=True):
    """The model answered, with text, calls or both."""

    run_id: RunId
    turn: int
    message: Message
    stop_reason: StopReason
    usage: Usage
    cost: float | None = None
    tokens: int = 0
    context: ContextUsage = ContextUsage()
    """What the request was made of."""


class ModelSampled(EventKind, frozen=True):
    """A server that a tool belongs to has asked the model something; the conversation does not hold it."""

    run_id: RunId
    turn: int
    call_id: CallId
    by: str
    usage: Usage
    cost: float | None = None


class ReplyLost(EventKind, frozen=True):
    """An answer was empty, or began and did not come to its end: what it used, which is then an estimate."""

    run_id: RunId
    turn: int
    usage: Usage
    cost: float | None = None


class Retrying(EventKind, frozen=True):
    """The model call failed and is made again; what it had streamed is void."""

    run_id: RunId
    turn: int
    attempt: int
    max_attempts: int
    error: str
    message: str
    delay_ms: int


class ModelSwitched(EventKind, frozen=True):
    """The model could not be reached; the run goes on with another one."""

    run_id: RunId
    turn: int
    model: str
    reason: str


class ApprovalRequested(EventKind, frozen=True):
    """A call waits for somebody to decide about it."""

    call_id: CallId
    tool: str
    args: dict[str, Any]
    why: str
    preview: str = ""
    suggestions: tuple[str, ...] = ()
    """The rules that the answers "session" and "always" would add; none when no general rule fits."""
    parent: CallId | None = None
    """The call whose code made this one."""
    child: SessionId | None = None
    """The sub-agent that asks; the answer goes on to it."""


class ApprovalDecided(EventKind, frozen=True):
    call_id: CallId
    answer: Answer
    reason: str = ""
    rules: tuple[str, ...] = ()
    """The rules that now hold for the rest of the session."""


class QuestionAsked(EventKind, frozen=True):
    """The model wants to know something from the user; the call rests until there is an answer."""

    call_id: CallId
    question: Question
    child: SessionId | None = None
    """The sub-agent that asks; the answer goes on to it."""


class QuestionAnswered(EventKind, frozen=True):
    call_id: CallId
    answers: tuple[str, ...] = ()


class ToolStarted(EventKind, frozen=True):
    """Durable before the tool acts."""

    call_id: CallId
    tool: str
    args: dict[str, Any]
    repeatable: bool = False
    """The tool only reads: if its end was never recorded it may simply run again."""
    parent: CallId | None = None
    """The call whose code made this one; the model does not know of it."""


class ToolFinished(EventKind, frozen=True):
    """Durable before anyone relies on the result."""

    result: ToolResult
    duration_ms: int = 0
    tokens: int = 0
    denied: bool = False
    """A rule, a mode or a person refused the call; it did not run."""
    diff: str = ""
    """What the call changed, for people to look at; the model does not get it."""
    parent: CallId | None = None
    """The call whose code made this one and has its result."""
    answer: str = ""
    """What the code of the call gave as the final answer: it ends the run."""


class FilesSeen(EventKind, frozen=True):
    """The model now knows these files as they are: it may edit them until they change."""

    files: tuple[SeenFile, ...]


class FilesChanged(EventKind, frozen=True):
    """What changed on disk through the session; recorded with the end of the call that did it."""

    changes: tuple[FileChange, ...]
    call_id: CallId | None = None
    """None for what was noticed later: a background job's work, or what a crash cut off."""
    rewind: bool = False
    """It was done by going back; the Rewound follows."""


class TodosChanged(EventKind, frozen=True):
    """The whole list as it now is."""

    todos: tuple[Todo, ...]


class KernelSaved(EventKind, frozen=True):
    """What the kernel of the session holds is kept: it can be brought back."""

    snapshot: str
    """Digest of the sealed snapshot among the blobs; empty when the kernel holds nothing."""
    dropped: tuple[str, ...] = ()
    """Names whose values could not be kept."""


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


class TurnEnded(EventKind, frozen=True):
    run_id: RunId
    turn: int
    usage: Usage
    context: ContextUsage


class HookCompleted(EventKind, frozen=True):
    hook_id: str
    point: HookPoint
    duration_ms: int = 0
    call_id: CallId | None = None
    ignored: tuple[str, ...] = ()
    """What it said beyond its capability or at the wrong point, in words."""


class HookFailed(EventKind, frozen=True):
    """A hook crashed, took too long or answered nonsense; a guardrail or rewrite hook denies by that."""

    hook_id: str
    point: HookPoint
    error: str
    duration_ms: int = 0
    call_id: CallId | None = None


class HookDenied(EventKind, frozen=True):
    hook_id: str
    point: HookPoint
    reason_code: ReasonCode
    message: str
    payload: Any = None
    call_id: CallId | None = None


class HookRewrote(EventKind, frozen=True):
    """A patch of a foreground hook holds."""

    hook_id: str
    point: HookPoint
    patch: Patch
    call_id: CallId | None = None


class HookPublished(EventKind, frozen=True):
    """A patch of a background hook, which changes nothing."""

    hook_id: str
    point: HookPoint
    patch: Patch
    revision: int
    """Counts the patches published by one run, from 1."""
    call_id: CallId | None = None


class CompactionStarted(EventKind, frozen=True):
    trigger: CompactionTrigger
    input_tokens: int
    """What the last request was, as the model's vendor counts."""
    history_tokens: int
    """What the messages are, by estimate."""
    messages: int


class OutputsCleared(EventKind, frozen=True):
    """The model no longer gets what these calls gave back, only that they were made; people still do."""

    call_ids: tuple[CallId, ...]
    tokens_before: int
    tokens_after: int


class Compacted(EventKind, frozen=True):
    """A summary stands in the place of all messages but the newest; nothing is deleted."""

    message: Message
    """What the model gets instead: the summary, and what is pinned word for word."""
    kept: int
    """How many messages, the newest, stay as they are."""
    tokens: int
    """Of the message."""
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    summary: str = ""
    """The message without what is pinned: the next compaction goes on from it."""
    corrections: tuple[str, ...] = ()
    """What the user said while runs were active, as far as it stands in the message word for word."""
    left_out: tuple[str, ...] = ()
    """What was too long to be kept word for word, in words."""


class CompactionFailed(EventKind, frozen=True):
    """Everything stays as it was."""

    error: str
    usage: Usage = Usage()
    cost: float | None = None


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


class QueuedPrompt(Struct, frozen=True, omit_defaults=True):
    """A prompt that waits for the next turn (steer) or for the run to end (queue)."""

    item_id: str
    message: Message
    options: RunOptions = RunOptions()
    delivery: Delivery = "queue"
    source: MessageSource | None = None
    key: PromptKey | None = None


class TakenPrompt(Struct, frozen=True, omit_defaults=True):
    """What became of a prompt that came with a key."""

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
    """All of a session but its messages: what a checkpoint carries forward."""

    created: SessionCreated
    created_at: int = 0
    title: str = ""
    model: str = ""
    """The model of the last run; the next one goes on with it."""
    archived: bool = False
    granted: tuple[str, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()
    totals: Totals = Totals()
    todos: tuple[Todo, ...] = ()
    snapshot: str = ""
    """Digest of what the kernel holds."""
    rewinds: int = 0
    """How often the conversation went back; after each the kernel is brought back too."""
    seen: dict[str, str] = {}
    """Digests of the files the model knows, by path; the newest few hundred."""
    pins: tuple[str, ...] = ()
    """What every compaction keeps word for word."""
    taken: dict[str, TakenPrompt] = {}
    """The newest prompts that came with a key."""


class Checkpoint(EventKind, frozen=True):
    """The facts as they stand, so that opening a session need not read all of it."""

    facts: SessionFacts


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


Event = (
    SessionCreated
    | SessionTitled
    | SessionArchived
    | PromptQueued
    | QueueEdited
    | QueueDropped
    | RunStarted
    | RunResumed
    | MessageAdded
    | TurnStarted
    | ModelReplied
    | ModelSampled
    | ReplyLost
    | Retrying
    | ModelSwitched
    | ApprovalRequested
    | ApprovalDecided
    | QuestionAsked
    | QuestionAnswered
    | ToolStarted
    | ToolFinished
    | FilesSeen
    | FilesChanged
    | TodosChanged
    | KernelSaved
    | Rewound
    | TurnEnded
    | HookCompleted
    | HookFailed
    | HookDenied
    | HookRewrote
    | HookPublished
    | CompactionStarted
    | OutputsCleared
    | Compacted
    | CompactionFailed
    | Pinned
    | ChildStarted
    | ChildEnded
    | BudgetWarned
    | BudgetExhausted
    | Checkpoint
    | Audited
    | RunEnded
)
"""What is stored of a session: what happened, in order."""


class Record(Struct, frozen=True):
    """An event as stored: numbered, dated and chained."""

    seq: int
    at: int
    """Milliseconds since 1970, by the clock of the process that appended it."""
    event: Event
    """Or an `Unknown` one, if a newer Bridle has stored it: whoever looks into events passes over it."""
    hash: str
