"""The ports for time, randomness, durable steps and telemetry."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol, TypeGuard, TypeVar, runtime_checkable

from bridle.core.ids import CallId, SessionId
from bridle.core.server_views import PeerMessage, PeerView

# ---------------------------------------------------------------------------- optional
# Check whether an object implements an optional protocol.


T = TypeVar("T")


@cache
def _offers(kind: Any, protocol: Any) -> bool:
    return issubclass(kind, protocol)


def implements(thing: Any, protocol: type[T]) -> TypeGuard[T]:
    """Return True if an object implements a protocol; checked once per class."""
    kind: Any = type(thing)
    wanted: Any = protocol
    return _offers(kind, wanted)


# ---------------------------------------------------------------------------- environment


class Clock(Protocol):
    """The only source of time."""

    def now_ms(self) -> int:
        """Return the wall clock in milliseconds since 1970, for dates."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds of a clock that never goes backwards, for durations."""
        ...


class Randomness(Protocol):
    """The only source of randomness."""

    def entropy(self, size: int) -> bytes:
        """Return unpredictable bytes."""
        ...

    def jitter(self) -> float:
        """Return a factor between 0.9 and 1.1."""
        ...


class DurableSteps(Protocol):
    """Track the work of a run in a durable engine for many machines, or not at all.

    The effect ledger alone decides what may run again after a crash, not this tracking.
    """

    async def perform(
        self, session: SessionId, name: str, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Perform a model call or a tool call and record that it was done."""
        ...

    async def pause(self, session: SessionId, seconds: float) -> None:
        """Wait while a run is idle."""
        ...

    async def child(
        self, parent: SessionId, child: SessionId, life: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Run a sub-agent from start to end as part of its parent's work."""
        ...


class PeerMessages(Protocol):
    """Receive the messages of agents in other processes, for the runs of this process."""

    async def open(self) -> str:
        """Listen, unless we do already; return the address. Raises ConfigError."""
        ...

    def taking(self, session: SessionId) -> AbstractContextManager[None]:
        """Note that a session's run takes messages while the context is open."""
        ...

    async def arrival(self, session: SessionId) -> None:
        """Wait until something has arrived for a session's run."""
        ...

    def take(self, session: SessionId) -> str:
        """Return what has arrived for a session's run, as the text of one message; empty for nothing."""
        ...

    async def aclose(self) -> None:
        """Stop listening."""
        ...


@runtime_checkable
class PeerWriter(Protocol):
    """Optional for `PeerMessages`: write to peers."""

    async def peers(self) -> Sequence[PeerView]:
        """Return the peers, by name; raises ConfigError."""
        ...

    async def write(self, session: SessionId, message: PeerMessage) -> str:
        """Send a message for a session, which gets the replies; return its id. Raises BridleError."""
        ...


class Observer(Protocol):
    """Follow the records of this process for traces and metrics; nothing depends on it."""

    def environment(self, session: SessionId, call_id: CallId | None) -> Mapping[str, str]:
        """Return environment variables that give the programs of a call, or of the run, their trace.

        Never raises and never waits; empty for a run that is not followed.
        """
        ...
