"""What enters a session (Command), what is kept of it (Event) and what only flashes by (Delta).

The three unions are the schema: they are encoded, decoded and published from here and nowhere
else; `core/codec.py` turns them into stored lines and back.
"""

from typing import Any, Literal

from msgspec import Struct

from bridle.core.budget import BudgetKind, Limits
from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, StopReason, ToolResult, Usage
from bridle.core.permission import Mode

Answer = Literal["once", "session", "deny", "stop"]
Outcome = Literal["completed", "denied", "cancelled", "failed", "budget_exhausted", "limit"]
MessageSource = Literal["prompt", "steer", "fork", "import"]
Delivery = Literal["steer", "queue"]

MAX_PROMPT_BYTES = 4 * 1024 * 1024  # some million tokens: more than any window holds


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


# ---------------------------------------------------------------------------- commands


class RunOptions(Struct, frozen=True, omit_defaults=True):
    """What one run does differently from its session's agent; None and () mean no difference."""

    model: str | None = None
    mode: Mode | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    limits: Limits = Limits()
    params: dict[str, Any] = {}


class CommandKind(Struct, frozen=True, tag=_snake, omit_defaults=True):
    """A request that may enter a session."""


class Prompt(CommandKind, frozen=True):
    """Start a run, or wait in the queue while one is active."""

    message: Message
    options: RunOptions = RunOptions()
    if_busy: Literal["queue", "reject"] = "queue"


class Steer(CommandKind, frozen=True):
    """Add a message to the active run at its next turn."""

    message: Message


class Resume(CommandKind, frozen=True):
    """Go on with a run that was cut off, from its last stored event."""

    options: RunOptions = RunOptions()


class Decide(CommandKind, frozen=True):
    """Answer a pending approval; the first answer counts, later ones are ignored."""

    call_id: CallId
    answer: Answer
    reason: str = ""


class Cancel(CommandKind, frozen=True):
    """Stop the active run."""

    reason: str = ""


class EditQueued(CommandKind, frozen=True):
    """Replace the message of a queued prompt."""

    item_id: str
    message: Message


class DropQueued(CommandKind, frozen=True):
    """Take a prompt out of the queue."""

    item_id: str


class Rename(CommandKind, frozen=True):
    """Give the session a title."""

    title: str


class Archive(CommandKind, frozen=True):
    """Put the session away, or bring it back."""

    archived: bool = True


Command = Prompt | Steer | Resume | Decide | Cancel | EditQueued | DropQueued | Rename | Archive


# ---------------------------------------------------------------------------- events


class EventKind(Struct, frozen=True, tag=_snake, omit_defaults=True):
    """A fact that is stored."""


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


class QueueEdited(EventKind, frozen=True):
    item_id: str
    message: Message


class QueueDropped(EventKind, frozen=True):
    item_id: str


class RunStarted(EventKind, frozen=True):
    run_id: RunId
    model: str
    mode: Mode = "ask"
    limits: Limits = Limits()
    options: RunOptions = RunOptions()
    """What was asked for with the prompt: after a crash the same rules hold."""


class RunResumed(EventKind, frozen=True):
    """A run goes on after its process ended; `interrupted` names the calls it was cut off in."""

    run_id: RunId
    interrupted: tuple[CallId, ...] = ()


class MessageAdded(EventKind, frozen=True):
    message: Message
    source: MessageSource = "prompt"
    tokens: int = 0
    item_id: str | None = None
    """The queued prompt this message takes out of the queue."""


class TurnStarted(EventKind, frozen=True):
    run_id: RunId
    turn: int


class ModelReplied(EventKind, frozen=True):
    run_id: RunId
    turn: int
    message: Message
    stop_reason: StopReason
    usage: Usage
    cost: float | None = None
    tokens: int = 0


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
    call_id: CallId
    tool: str
    args: dict[str, Any]
    why: str
    preview: str = ""
    suggestion: str = ""
    """The rule that the answer "session" would add."""


class ApprovalDecided(EventKind, frozen=True):
    call_id: CallId
    answer: Answer
    reason: str = ""
    rule: str = ""
    """The rule that now holds for the rest of the session."""


class ToolStarted(EventKind, frozen=True):
    """Durable before the tool acts."""

    call_id: CallId
    tool: str
    args: dict[str, Any]
    repeatable: bool = False
    """The tool only reads: if its end was never recorded it may simply run again."""


class ToolFinished(EventKind, frozen=True):
    """Durable before anyone relies on the result."""

    result: ToolResult
    duration_ms: int = 0
    tokens: int = 0
    denied: bool = False
    """A rule, a mode or a person refused the call; it did not run."""


class TurnEnded(EventKind, frozen=True):
    run_id: RunId
    turn: int
    usage: Usage
    context: ContextUsage


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


class Checkpoint(EventKind, frozen=True):
    """The facts as they stand, so that opening a session need not read all of it."""

    facts: SessionFacts


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
    | Retrying
    | ModelSwitched
    | ApprovalRequested
    | ApprovalDecided
    | ToolStarted
    | ToolFinished
    | TurnEnded
    | BudgetWarned
    | BudgetExhausted
    | Checkpoint
    | RunEnded
)


class Record(Struct, frozen=True):
    """An event as stored: numbered, dated and chained."""

    seq: int
    at: int
    """Milliseconds since 1970, by the clock of the process that appended it."""
    event: Event
    hash: str


# ---------------------------------------------------------------------------- deltas


class DeltaKind(Struct, frozen=True, tag=_snake, omit_defaults=True):
    """A live fragment; never stored."""


class TextDelta(DeltaKind, frozen=True):
    text: str


class ReasoningDelta(DeltaKind, frozen=True):
    text: str


class ToolCallDelta(DeltaKind, frozen=True):
    """A fragment of the argument text of a call that is still being written."""

    call_id: CallId
    name: str
    args: str


class ToolOutputDelta(DeltaKind, frozen=True):
    """Output of a running tool."""

    call_id: CallId
    text: str


class Aborted(DeltaKind, frozen=True):
    """The run ended and its end could not be recorded (the disk is full, another writer took over)."""

    run_id: RunId
    reason: str


class Lagged(DeltaKind, frozen=True):
    """This watcher was too slow: fragments were dropped; events are not, they follow from the store."""

    dropped: int


Delta = TextDelta | ReasoningDelta | ToolCallDelta | ToolOutputDelta | Aborted | Lagged
