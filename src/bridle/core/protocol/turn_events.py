"""What happens in a turn: messages, the model, hooks, compaction."""

from typing import Any

from bridle.core.context import ContextUsage
from bridle.core.hook import HookPoint, Patch, ReasonCode
from bridle.core.ids import CallId, RunId
from bridle.core.messages import Message, StopReason, Usage
from bridle.core.protocol.values import CompactionTrigger, EventKind, MessageSource


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
