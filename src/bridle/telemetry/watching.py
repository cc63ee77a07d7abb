"""A store that lets somebody know what is appended to it; where nobody wants to know, it is not there."""

import asyncio
import logging
from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.core.protocol import Event, Record, RunEnded, RunStarted
from bridle.telemetry.runs import Runs

CHUNK = 256  # records
MAX_CHUNKS = 20
LOOK_S = 5.0

log = logging.getLogger("bridle.telemetry")


class Follower(Protocol):
    """Whoever wants to know."""

    @property
    def runs(self) -> Runs:
        """The runs it follows."""
        ...

    def seen(self, session: SessionId, records: Sequence[Record], seconds: float) -> None:
        """Take in what was appended, and how long that took; never raises."""
        ...

    async def aclose(self) -> None:
        """Tell what is left to tell."""
        ...


class WatchedStore:
    """A journal, and somebody who follows what this process appends to it."""

    def __init__(self, store: Store, follower: Follower) -> None:
        self._store = store
        self._follower = follower
        self.read = store.read
        self.list = store.list
        self.delete = store.delete

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        """Append, and let it be known; raises what the store raises."""
        if expected_seq and events and self._follower.runs.misses(session, events[0]):
            await self._look_back(session, expected_seq)
        began_s = perf_counter()
        records = await self._store.append(session, expected_seq, events)
        self._follower.seen(session, records, perf_counter() - began_s)
        return records

    async def aclose(self) -> None:
        """Close the journal, then tell what is left to tell."""
        try:
            await self._store.aclose()
        finally:
            await self._follower.aclose()

    async def _look_back(self, session: SessionId, upto: int) -> None:
        """Find out what a run has done before this process took it up."""
        try:
            async with asyncio.timeout(LOOK_S):
                self._follower.runs.recall(session, await _earlier(self._store, session, upto))
        except (BridleError, TimeoutError) as error:
            log.warning("the trace of session %s has no beginning: %s", session, error)


async def _earlier(store: Store, session: SessionId, upto: int) -> list[Record]:
    """Return the session's first record, and all since its last run began or ended."""
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
