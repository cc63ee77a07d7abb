"""Events of a turn: messages, the model, hooks, compaction."""

from typing import Any

from bridle.core.context import ContextUsage
from bridle.core.hook import HookPoint, Patch, ReasonCode
from bridle.core.ids import CallId, RunId
from bridle.core.messages import Message, StopReason, Usage
from bridle.core.protocol.values import CompactionTrigger, EventKind, MessageSource


class MessageAdded(EventKind, frozen=True):
    """A message was added to the conversation; `source` says where it came from."""

    message: Message
    source: MessageSource = "prompt"
    tokens: int = 0
    item_id: str | None = None
    """The queued prompt that this message removes from the queue."""


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
    """What the request consisted of."""


class ModelSampled(EventKind, frozen=True):
    """A tool call sent a model a request, such as an MCP server's; it is not part of the conversation."""

    run_id: RunId
    turn: int
    call_id: CallId
    by: str
    usage: Usage
    cost: float | None = None
    model: str = ""
    """Empty for the model of the run."""


class ReplyLost(EventKind, frozen=True):
    """A reply was empty, or was cut off; records its use, which is an estimate if it was cut off."""

    run_id: RunId
    turn: int
    usage: Usage
    cost: float | None = None


class Retrying(EventKind, frozen=True):
    """The model call failed and is retried; discard what it had streamed."""

    run_id: RunId
    turn: int
    attempt: int
    max_attempts: int
    error: str
    message: str
    delay_ms: int


class ModelSwitched(EventKind, frozen=True):
    """The model could not be reached; the run continues with another one."""

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
    """Messages about answers that exceed its capability or do not apply at the point."""


class HookFailed(EventKind, frozen=True):
    """A hook crashed, timed out or gave an invalid answer; a guardrail or rewrite hook then denies."""

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
    """A patch of a foreground hook was applied."""

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
    """Size of the last request, counted by the model's vendor."""
    history_tokens: int
    """Estimated size of all messages."""
    messages: int


class OutputsCleared(EventKind, frozen=True):
    """The model no longer gets the outputs of these calls, only the calls; people still see them."""

    call_ids: tuple[CallId, ...]
    tokens_before: int
    tokens_after: int


class Compacted(EventKind, frozen=True):
    """A summary replaces all messages except the newest; nothing is deleted."""

    message: Message
    """What the model gets instead: the summary, and the pinned texts word for word."""
    kept: int
    """How many of the newest messages stay unchanged."""
    tokens: int
    """Size of `message`."""
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    summary: str = ""
    """The message without the pinned texts; the next compaction starts from it."""
    corrections: tuple[str, ...] = ()
    """The user's messages during runs that `message` contains word for word."""
    left_out: tuple[str, ...] = ()
    """Descriptions of what was too long to be kept word for word."""


class CompactionFailed(EventKind, frozen=True):
    """A compaction failed; the conversation is unchanged."""

    error: str
    usage: Usage = Usage()
    cost: float | None = None
