"""The port for hooks: the user's code at fixed points of a run."""

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
    """The result of calling all hooks of a point."""

    outcome: HookOutcome = HookOutcome()
    events: tuple[HookEvent, ...] = ()
    """Events to record, in order, including those that background hooks published since the last round."""


class Hooks(Protocol):
    """The hooks of one run."""

    @property
    def points(self) -> frozenset[HookPoint]:
        """The points that have hooks; at others `ask` need not be called."""
        ...

    @property
    def judged(self) -> frozenset[HookPoint]:
        """The points at which a hook may deny or rewrite; show nothing of them before the hooks have run."""
        ...

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        """Call every hook of a point, foreground hooks in order; never raises."""
        ...

    def for_child(self) -> "Hooks":
        """Return the same hooks for a sub-agent, which must close them before these are closed."""
        ...

    async def aclose(self) -> tuple[HookEvent, ...]:
        """Wait briefly for background hooks, then stop them; return the events that are left to record."""
        ...
