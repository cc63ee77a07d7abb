"""A setup for runs with telemetry: with a moving clock and a collector."""

from typing import Any

from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.stores.ephemeral import EphemeralStore
from bridle.telemetry.exporter import Telemetry, TelemetryOptions
from bridle.telemetry.observed_store import ObservedStore
from tests.sessions.stage import FixedClock
from tests.telemetry.collector import Collector

PLAN = {"traces": True, "metrics": True}


class TickingClock(FixedClock):
    """Goes on by ten milliseconds each time it is read."""

    def now_ms(self) -> int:
        self._now_ms += 10
        return self._now_ms


class Followed:
    """What a setup needs for telemetry."""

    def __init__(self, collector: Collector, store: Store | None = None, **plan: Any) -> None:
        self.telemetry = Telemetry(TelemetryOptions("1.0", endpoint=collector.url, **{**PLAN, **plan}))
        self.clock = TickingClock()
        self.inner = store or EphemeralStore(self.clock)
        self.parts = {
            "store": ObservedStore(self.inner, self.telemetry),
            "observer": self.telemetry,
        }
        """The arguments of a Stage or a Troupe."""


async def copied(store: Store, *sessions: SessionId) -> EphemeralStore:
    """Return what another process finds after this one has died."""
    fresh = EphemeralStore(TickingClock(100_000))
    for session in sessions:
        await fresh.append(session, 0, [record.event for record in await store.read(session)])
    return fresh
