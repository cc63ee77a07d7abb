"""Deltas: live fragments that are shown and never stored."""

from msgspec import Struct

from bridle.core.hook import HookPoint
from bridle.core.ids import CallId, RunId
from bridle.core.protocol.values import snake


class DeltaKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """The base of all deltas."""


class TextDelta(DeltaKind, frozen=True):
    """A piece of the answer."""

    text: str


class ReasoningDelta(DeltaKind, frozen=True):
    """A piece of the model's reasoning."""

    text: str


class ToolCallDelta(DeltaKind, frozen=True):
    """A piece of a call's argument text while the model writes it."""

    call_id: CallId
    name: str
    args: str


class ToolOutputDelta(DeltaKind, frozen=True):
    """Output of a running tool."""

    call_id: CallId
    text: str


class HookStarted(DeltaKind, frozen=True):
    """A hook was called; its end is an event."""

    hook_id: str
    point: HookPoint


class Aborted(DeltaKind, frozen=True):
    """The run ended, but its end could not be recorded (the disk is full, another writer took over)."""

    run_id: RunId
    reason: str


class Notice(DeltaKind, frozen=True):
    """A message for the people who watch; it changes nothing."""

    text: str
    is_wait: bool = False
    """True if the text only says what the run waits for; nothing is wrong."""


class Lagged(DeltaKind, frozen=True):
    """This watcher was too slow: deltas were dropped. Events are not lost: they follow from the store."""

    dropped: int


Delta = TextDelta | ReasoningDelta | ToolCallDelta | ToolOutputDelta | HookStarted | Aborted | Notice | Lagged
"""A live fragment: shown as it happens, never stored."""
