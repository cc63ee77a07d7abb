"""Time, chance, and whoever keeps track of what a run does."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from bridle.core.ids import CallId, SessionId


class Clock(Protocol):
    """The only source of time."""

    def now_ms(self) -> int:
        """Return the wall clock, for dates."""
        ...

    def monotonic_s(self) -> float:
        """Return a clock that never goes back, for durations."""
        ...


class Chance(Protocol):
    """The only source of randomness."""

    def entropy(self, size: int) -> bytes:
        """Return unpredictable bytes."""
        ...

    def jitter(self) -> float:
        """Return a factor between 0.9 and 1.1."""
        ...


class Steps(Protocol):
    """What keeps track of the work of a run: an engine for many machines, or nobody.

    What may be done again after a crash the effect ledger alone decides, not the one who keeps track.
    """

    async def perform(
        self, session: SessionId, name: str, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Do a piece of work, a model call or a tool call, and know that it was done."""
        ...

    async def pause(self, session: SessionId, seconds: float) -> None:
        """Let time pass in which a run rests."""
        ...

    async def child(
        self, parent: SessionId, child: SessionId, life: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Live the life of a sub-agent, from its start to its end, as part of its parent's work."""
        ...


class Observer(Protocol):
    """Follows what is recorded here, for traces and metrics; nothing rests on it."""

    def environment(self, session: SessionId, call_id: CallId | None) -> Mapping[str, str]:
        """Return what tells the programs of a call, or of the run itself, which trace they belong to.

        Never raises and never waits; nothing for a run that is not followed.
        """
        ...
