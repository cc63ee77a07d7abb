"""The units of work that traces and metrics report, each with a start and an end."""

from typing import Any

from msgspec import Struct, field

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, StopReason, Usage
from bridle.core.protocol import ReplyLost, RunEnded, ToolStarted
from bridle.core.trace import Trace, make_span_id


class TrackedRun(Struct):
    """The state of a run that telemetry follows."""

    session: SessionId
    id: RunId
    trace: Trace
    """The trace and the parent span of the run."""
    agent: str
    model: str
    began: int
    turn: int = 0
    tries: int = 0
    """Requests to the model in this turn so far."""
    asked: int | None = None
    """When the open request to the model started, in milliseconds since 1970; None if there is none."""
    is_answered: bool = True
    """True if the model has replied in this turn."""
    lost: ReplyLost | None = None
    """Usage of the last failed attempt."""
    cut_off: "ModelCall | None" = None
    """A reply that was cut off."""
    compacting: int | None = None
    tools: dict[CallId, tuple[int, ToolStarted]] = field(default_factory=dict)
    waits: dict[CallId, tuple[int, str]] = field(default_factory=dict)
    """For each call that waits for a person: since when, and for which tool."""
    names: dict[CallId, str] = field(default_factory=dict)
    is_sampled: bool | None = None
    """True if its spans are sampled; None until that is decided."""
    prompt: str = ""
    """The start of the prompt."""

    @property
    def span(self) -> int:
        """The id of the run's span."""
        return make_span_id(self.id)


class Activity(Struct, frozen=True):
    """One finished unit of work in a run."""

    run: TrackedRun
    began: int
    """In milliseconds since 1970, like `ended`."""
    ended: int
    error: str = ""
    """The type of the failure; empty if it succeeded."""


class ModelCall(Activity, frozen=True, kw_only=True):
    """One request to the model."""

    name: str
    """A name that is unique within the run."""
    model: str
    usage: Usage | None = None
    cost: float | None = None
    stop_reason: StopReason | None = None
    message: Message | None = None


class ToolUse(Activity, frozen=True, kw_only=True):
    """One tool call, executed or denied."""

    call_id: CallId
    tool: str
    parent: CallId | None
    args: dict[str, Any] | None
    """None if the tool did not run."""
    output: str
    denied: bool


class UserWait(Activity, frozen=True, kw_only=True):
    """One wait for a person's answer."""

    call_id: CallId
    tool: str
    answer: str
    """The decision; empty for the answer to a question."""


class StartedRun(Struct, frozen=True):
    """A run started in this process."""

    run: TrackedRun


class FinishedRun(Activity, frozen=True, kw_only=True):
    """A run ended."""

    end: RunEnded


class ExtraUsage(Struct, frozen=True):
    """Tokens used outside the turns of a run."""

    model: str
    usage: Usage
    cost: float | None


Fact = ModelCall | ToolUse | UserWait | StartedRun | FinishedRun | ExtraUsage
