"""An observed store behaves like the store it wraps; reading back is cheap and harmless."""

from collections.abc import Sequence

import pytest

from bridle.core.errors import SessionConflict, StoreError
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    MessageAdded,
    Record,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionCreated,
    SessionTitled,
)
from bridle.stores.ephemeral import EphemeralStore
from bridle.telemetry.observed_store import CHUNK, ObservedStore
from bridle.telemetry.run_tracker import RunTracker
from tests.sessions.stage import FixedClock

SESSION = SessionId("s")
RUN = RunId("r")


class Ear:
    """Records its calls."""

    def __init__(self) -> None:
        self.runs = RunTracker()
        self.heard: list[tuple[SessionId, list[Record]]] = []
        self.is_closed = False

    def seen(self, session: SessionId, records: Sequence[Record], seconds: float) -> None:
        assert seconds >= 0
        self.heard.append((session, list(records)))
        self.runs.take(session, records)

    async def aclose(self) -> None:
        self.is_closed = True


class BrokenReads(EphemeralStore):
    """A store that cannot be read."""

    async def read(self, *args, **options):
        raise StoreError("unreadable")


async def filled(store: EphemeralStore, *, messages: int) -> int:
    """Start a run of many messages; returns the last number."""
    begun = [SessionCreated(SESSION, "/", "coder"), RunStarted(RUN, "x/y")]
    added = [MessageAdded(user_message("m"), "steer")] * messages
    return (await store.append(SESSION, 0, [*begun, *added]))[-1].seq


async def test_what_is_appended_is_heard_and_a_conflict_is_not():
    store, ear = EphemeralStore(FixedClock()), Ear()
    watched = ObservedStore(store, ear)

    records = await watched.append(SESSION, 0, [SessionCreated(SESSION, "/")])
    with pytest.raises(SessionConflict):
        await watched.append(SESSION, 5, [SessionTitled("t")])
    await watched.aclose()

    assert ear.heard == [(SESSION, records)]
    assert ear.is_closed


async def test_the_rest_is_the_store_itself():
    store = EphemeralStore(FixedClock())
    watched = ObservedStore(store, Ear())
    await watched.append(SESSION, 0, [SessionCreated(SESSION, "/")])

    assert await watched.read(SESSION, after=0) == await store.read(SESSION)
    assert await watched.list() == await store.list()
    await watched.delete(SESSION)
    assert await store.read(SESSION) == []


@pytest.mark.parametrize("messages", [0, 3 * CHUNK])
async def test_a_run_is_looked_up_however_far_back_it_began(messages: int):
    store, ear = EphemeralStore(FixedClock()), Ear()
    last = await filled(store, messages=messages)

    await ObservedStore(store, ear).append(SESSION, last, [RunResumed(RUN)])

    run = ear.runs.run(SESSION)
    assert run is not None
    assert (run.id, run.agent, run.model) == (RUN, "coder", "x/y")


async def test_a_session_whose_run_is_over_has_none():
    store, ear = EphemeralStore(FixedClock()), Ear()
    last = await filled(store, messages=0)
    await store.append(SESSION, last, [RunEnded(RUN, "completed")])

    await ObservedStore(store, ear).append(SESSION, last + 1, [SessionTitled("t")])

    assert ear.runs.run(SESSION) is None
    assert not ear.runs.needs_history(SESSION, SessionTitled("t"))


async def test_a_store_that_cannot_be_read_is_appended_to_all_the_same():
    store, ear = BrokenReads(FixedClock()), Ear()
    last = await filled(store, messages=0)

    records = await ObservedStore(store, ear).append(SESSION, last, [RunResumed(RUN)])

    assert [record.event for record in records] == [RunResumed(RUN)]
    assert ear.heard == [(SESSION, records)]
