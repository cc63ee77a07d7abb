"""A store wrapper that reports every append to a follower; used only if telemetry is on."""

import asyncio
import logging
from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.core.protocol import Event, Record, RunEnded, RunStarted
from bridle.telemetry.run_tracker import RunTracker

CHUNK = 256  # records
MAX_CHUNKS = 20
LOOK_S = 5.0

log = logging.getLogger("bridle.telemetry")


class RecordObserver(Protocol):
    """Receives the records that are appended to a store."""

    @property
    def runs(self) -> RunTracker:
        """The runs it follows."""
        ...

    def seen(self, session: SessionId, records: Sequence[Record], seconds: float) -> None:
        """Receive appended records and the duration of the append in seconds; never raises."""
        ...

    async def aclose(self) -> None:
        """Export what is left."""
        ...


class ObservedStore:
    """A store that reports this process's appends to a follower."""

    def __init__(self, store: Store, follower: RecordObserver) -> None:
        self._store = store
        self._follower = follower
        self.read = store.read
        self.list = store.list
        self.delete = store.delete

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        """Append events and report the records; raises what the store raises."""
        if expected_seq and events and self._follower.runs.needs_history(session, events[0]):
            await self._load_history(session, expected_seq)
        began_s = perf_counter()
        records = await self._store.append(session, expected_seq, events)
        self._follower.seen(session, records, perf_counter() - began_s)
        return records

    async def aclose(self) -> None:
        """Close the store, then the follower."""
        try:
            await self._store.aclose()
        finally:
            await self._follower.aclose()

    async def _load_history(self, session: SessionId, upto: int) -> None:
        """Restore the state of a session from records of other processes; logs a warning if that fails."""
        try:
            async with asyncio.timeout(LOOK_S):
                self._follower.runs.recall(session, await _read_history(self._store, session, upto))
        except (BridleError, TimeoutError) as error:
            log.warning("the trace of session %s has no beginning: %s", session, error)


async def _read_history(store: Store, session: SessionId, upto: int) -> list[Record]:
    """Return the session's first record, and at least all records since a run last started or ended.

    At most `MAX_CHUNKS * CHUNK` records are read backward.
    """
    found: list[Record] = []
    for _ in range(MAX_CHUNKS):
        before = found[0].seq if found else upto + 1
        chunk = await store.read(session, before=before, limit=CHUNK, newest=True)
        found = chunk + found
        if (
            not chunk
            or chunk[0].seq == 1
            or any(isinstance(one.event, RunStarted | RunEnded) for one in chunk)
        ):
            break
    is_whole = bool(found) and found[0].seq == 1
    return found if is_whole else [*await store.read(session, limit=1), *found]
