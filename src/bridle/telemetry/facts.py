"""What traces and metrics are made of: pieces of the work of a run, each with a beginning and an end."""

from typing import Any

from msgspec import Struct, field

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, StopReason, Usage
from bridle.core.protocol import ReplyLost, RunEnded, ToolStarted
from bridle.core.trace import Trace, span_of


class Run(Struct):
    """A run that is followed."""

    session: SessionId
    id: RunId
    trace: Trace
    """What it is a part of."""
    agent: str
    model: str
    began: int
    turn: int = 0
    tries: int = 0
    """How often the model was asked in this turn."""
    asked: int | None = None
    """Since when it is."""
    is_answered: bool = True
    """The model has answered in this turn."""
    lost: ReplyLost | None = None
    """What the last try has used for nothing."""
    cut_off: "ModelCall | None" = None
    """An answer that did not come to its end."""
    compacting: int | None = None
    tools: dict[CallId, tuple[int, ToolStarted]] = field(default_factory=dict)
    waits: dict[CallId, tuple[int, str]] = field(default_factory=dict)
    """Since when somebody was asked about a call, and what for."""
    names: dict[CallId, str] = field(default_factory=dict)
    is_sampled: bool | None = None
    """Whether its spans are kept, once that is decided."""
    prompt: str = ""
    """The beginning of what it is to do."""

    @property
    def span(self) -> int:
        """Return the id of its span."""
        return span_of(self.id)


class Work(Struct, frozen=True):
    """Something that was done in a run."""

    run: Run
    began: int
    """In milliseconds since 1970, as `ended`."""
    ended: int
    error: str = ""
    """What kind of failure it ended with; empty for none."""


class ModelCall(Work, frozen=True, kw_only=True):
    """The model was asked, once."""

    name: str
    """What it is called within its run."""
    model: str
    usage: Usage | None = None
    cost: float | None = None
    stop_reason: StopReason | None = None
    message: Message | None = None


class ToolUse(Work, frozen=True, kw_only=True):
    """A call of a tool was made, or refused."""

    call_id: CallId
    tool: str
    parent: CallId | None
    args: dict[str, Any] | None
    """None when it did not run."""
    output: str
    denied: bool


class Wait(Work, frozen=True, kw_only=True):
    """A person was asked."""

    call_id: CallId
    tool: str
    answer: str
    """What was decided; empty for the answer to a question."""


class RunBegun(Struct, frozen=True):
    """A run began here."""

    run: Run


class RunOver(Work, frozen=True, kw_only=True):
    """A run ended."""

    end: RunEnded


class Spent(Struct, frozen=True):
    """Tokens were used beside the turns of a run."""

    model: str
    usage: Usage
    cost: float | None


Fact = ModelCall | ToolUse | Wait | RunBegun | RunOver | Spent
