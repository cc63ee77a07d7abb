"""The user's own code at the points of a run."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from bridle.core.hook import HookInvocation, HookOutcome, HookPoint
from bridle.core.protocol import (
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPublished,
    HookRewrote,
    HookStarted,
)

HookEvent = HookCompleted | HookFailed | HookDenied | HookRewrote | HookPublished


class HookRound(Struct, frozen=True):
    """What came of asking all hooks of a point."""

    outcome: HookOutcome = HookOutcome()
    events: tuple[HookEvent, ...] = ()
    """What there is to record, in order; also what background hooks have published since the last round."""


class Hooks(Protocol):
    """The hooks of one run."""

    @property
    def points(self) -> frozenset[HookPoint]:
        """Where anybody listens; at other points nothing need be asked."""
        ...

    @property
    def judged(self) -> frozenset[HookPoint]:
        """Where somebody may refuse or rewrite; nobody may see before what there is to judge."""
        ...

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        """Ask every hook of a point, those in the foreground in order; never raises."""
        ...

    def for_child(self) -> "Hooks":
        """Return the same hooks for a sub-agent of the run, which closes them before these are closed."""
        ...

    async def aclose(self) -> tuple[HookEvent, ...]:
        """Give background hooks a moment to end, stop them, and return what is left to record."""
        ...
