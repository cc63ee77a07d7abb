"""What only flashes by."""

from msgspec import Struct

from bridle.core.hook import HookPoint
from bridle.core.ids import CallId, RunId
from bridle.core.protocol.names import snake


class DeltaKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """A live fragment; never stored."""


class TextDelta(DeltaKind, frozen=True):
    """A piece of the answer."""

    text: str


class ReasoningDelta(DeltaKind, frozen=True):
    """A piece of what the model thinks."""

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


class HookStarted(DeltaKind, frozen=True):
    """A hook is asked; how it ended is an event."""

    hook_id: str
    point: HookPoint


class Aborted(DeltaKind, frozen=True):
    """The run ended and its end could not be recorded (the disk is full, another writer took over)."""

    run_id: RunId
    reason: str


class Notice(DeltaKind, frozen=True):
    """Something the people who watch should know, which changes nothing."""

    text: str
    is_wait: bool = False
    """It says what is waited for; nothing is wrong."""


class Lagged(DeltaKind, frozen=True):
    """This watcher was too slow: fragments were dropped; events are not, they follow from the store."""

    dropped: int


Delta = TextDelta | ReasoningDelta | ToolCallDelta | ToolOutputDelta | HookStarted | Aborted | Notice | Lagged
"""What is shown while it happens and never stored."""
