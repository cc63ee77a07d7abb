"""Meerkat's events: what clients receive during a run, under the names of its contract."""

from typing import Any, Literal

from msgspec import Struct

from bridle.core.messages import StopReason, Usage
from bridle.core.protocol.values import snake

BudgetType = Literal["tokens", "time", "tool_calls"]


class TokenUsage(Struct, frozen=True):
    """Tokens of one answer or of a whole run; all keys are always present."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cache_creation_tokens: int | None
    cache_read_tokens: int | None


def token_usage(usage: Usage) -> TokenUsage:
    """Convert usage to Meerkat's fields."""
    return TokenUsage(
        usage.input, usage.output, usage.context, usage.cache_write or None, usage.cache_read or None
    )


class AgentEventBase(Struct, frozen=True, tag=snake):
    """Base of the events of a run."""


class RunStarted(AgentEventBase, frozen=True):
    session_id: str
    prompt: str


class RunCompleted(AgentEventBase, frozen=True):
    session_id: str
    result: str
    usage: TokenUsage


class RunFailed(AgentEventBase, frozen=True):
    session_id: str
    error: str
    error_class: str = "internal"
    """The class of failure, one of those that clients since 0.6 accept."""


class HookStarted(AgentEventBase, frozen=True):
    hook_id: str
    point: str


class HookCompleted(AgentEventBase, frozen=True):
    hook_id: str
    point: str
    duration_ms: int


class HookFailed(AgentEventBase, frozen=True):
    hook_id: str
    point: str
    error: str


class HookDenied(AgentEventBase, frozen=True):
    hook_id: str
    point: str
    reason_code: str
    message: str
    payload: Any = None


class HookRewriteApplied(AgentEventBase, frozen=True):
    hook_id: str
    point: str
    patch: Any


class HookPatchPublished(AgentEventBase, frozen=True):
    hook_id: str
    point: str
    envelope: Any


class TurnStarted(AgentEventBase, frozen=True):
    turn_number: int
    """Starts at 0."""


class ReasoningDelta(AgentEventBase, frozen=True):
    delta: str


class ReasoningComplete(AgentEventBase, frozen=True):
    content: str


class TextDelta(AgentEventBase, frozen=True):
    delta: str


class TextComplete(AgentEventBase, frozen=True):
    content: str


class ToolCallRequested(AgentEventBase, frozen=True):
    id: str
    name: str
    args: Any


class ToolExecutionStarted(AgentEventBase, frozen=True):
    id: str
    name: str


class ToolExecutionCompleted(AgentEventBase, frozen=True):
    id: str
    name: str
    result: str
    is_error: bool
    duration_ms: int


class ToolExecutionTimedOut(AgentEventBase, frozen=True):
    id: str
    name: str
    timeout_ms: int


class ToolResultReceived(AgentEventBase, frozen=True):
    """The model has the result; clients since 0.9.5 get its text only here."""

    id: str
    name: str
    is_error: bool
    result: str = ""


class TurnCompleted(AgentEventBase, frozen=True):
    stop_reason: StopReason
    usage: TokenUsage


class CompactionStarted(AgentEventBase, frozen=True):
    input_tokens: int
    estimated_history_tokens: int
    message_count: int


class CompactionCompleted(AgentEventBase, frozen=True):
    summary_tokens: int
    messages_before: int
    messages_after: int


class CompactionFailed(AgentEventBase, frozen=True):
    error: str


class BudgetWarning(AgentEventBase, frozen=True):
    budget_type: BudgetType
    used: int
    limit: int
    percent: float
    """A fraction from 0 to 1."""


class Retrying(AgentEventBase, frozen=True):
    attempt: int
    max_attempts: int
    error: str
    delay_ms: int


class SkillsResolved(AgentEventBase, frozen=True):
    skills: tuple[str, ...]
    injection_bytes: int


class SkillResolutionFailed(AgentEventBase, frozen=True):
    reference: str
    error: str


class StreamTruncated(AgentEventBase, frozen=True):
    """Deltas were dropped because the client reads too slowly."""

    dropped: int


AgentEvent = (
    RunStarted
    | RunCompleted
    | RunFailed
    | HookStarted
    | HookCompleted
    | HookFailed
    | HookDenied
    | HookRewriteApplied
    | HookPatchPublished
    | TurnStarted
    | ReasoningDelta
    | ReasoningComplete
    | TextDelta
    | TextComplete
    | ToolCallRequested
    | ToolExecutionStarted
    | ToolExecutionCompleted
    | ToolExecutionTimedOut
    | ToolResultReceived
    | TurnCompleted
    | CompactionStarted
    | CompactionCompleted
    | CompactionFailed
    | BudgetWarning
    | Retrying
    | SkillsResolved
    | SkillResolutionFailed
    | StreamTruncated
)
