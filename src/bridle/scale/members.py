"""Tracks which processes of a cluster live, and takes over the work of dead ones.

```
join    a row in `workers`, and an advisory lock that ends with our connection
beat    update the row by the database's clock; if it says that we are gone, we are
judge   a process is gone if its last beat is long ago, or a few beats ago and its lock is free:
        its claims are dropped, so that its writes are refused, and its jobs go back to their queues
```

Only one process judges at a time, and only after its own beats were on time for long enough: after an
outage of the database or a sleep of the machine, every process seems late.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from bridle.core.errors import StoreError
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.rows import Connection, fetch_rows

MISSED_BEATS = 3  # for a process whose connection is lost, too
FORGET = "30 days"
JUDGE_S = 60.0  # then another process may try
LOOKS = 20
SWEEP_S = 10.0  # between searches for jobs of dead workers
LEAVE_S = 5.0  # to mark us as gone; without it the judge finds out

_JUDGE = int.from_bytes(b"judge", "big")
_JOIN = """
INSERT INTO bridle.workers (id, node, address, labels, version) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET beat = clock_timestamp() WHERE NOT workers.gone
"""
_AGAIN = "UPDATE bridle.workers SET gone = false, beat = clock_timestamp() WHERE id = %s"
_BEAT = """
UPDATE bridle.workers AS now SET beat = clock_timestamp(), draining = %s
FROM bridle.workers AS before WHERE now.id = %s AND NOT now.gone AND before.id = now.id
RETURNING before.beat < clock_timestamp() - make_interval(secs => %s)
"""
_LATE = """
SELECT id, beat < clock_timestamp() - make_interval(secs => %s) FROM bridle.workers
WHERE NOT gone AND id <> %s AND beat < clock_timestamp() - make_interval(secs => %s)
"""
_LOST = """
SELECT pg_try_advisory_xact_lock(hashtextextended(id, 0)),
    beat < clock_timestamp() - make_interval(secs => %s)
FROM bridle.workers WHERE id = %s AND NOT gone
"""
_GONE = "UPDATE bridle.workers SET gone = true WHERE id = %s"
_IS_GONE = "SELECT 1 FROM bridle.workers WHERE id = %s AND NOT gone"
_FORGET = f"DELETE FROM bridle.workers WHERE gone AND beat < clock_timestamp() - interval '{FORGET}'"
_MEMBERS = """
SELECT id, node, address, labels, version, draining, extract(epoch FROM clock_timestamp() - beat)::float8
FROM bridle.workers WHERE NOT gone ORDER BY started_at, id
"""

log = logging.getLogger("bridle.scale")


class Member(Struct, frozen=True):
    """A process that works on the sessions of a database."""

    id: str
    node: str
    address: str = ""
    """Where its sessions are reached; empty for a process that runs none."""
    labels: tuple[str, ...] = ()
    version: str = ""
    draining: bool = False
    silent_s: float = 0.0
    """Seconds since its last beat."""


class Members:
    """Keeps this process registered as living, and monitors the others."""

    def __init__(
        self,
        postgres: Postgres,
        claims: PostgresClaims,
        me: Member,
        *,
        beat_s: float,
        dead_after_s: float,
        hand_on: Callable[[Callable[[str], Awaitable[bool]]], Awaitable[int]] | None = None,
    ) -> None:
        """Take the parts; `hand_on` puts the jobs of dead workers back on their queues."""
        self.me = me
        self.is_draining = False
        self.is_lost = asyncio.Event()
        """Set once another process has declared us gone: our claims are void."""
        self._postgres = postgres
        self._claims = claims
        self._beat_s = beat_s
        self._dead_after_s = dead_after_s
        self._hand_on = hand_on
        self._beaten_since: float | None = None
        self._swept = 0.0
        self._connection: Connection | None = None

    async def join(self) -> None:
        """Register as living; raises StoreError."""
        me = self.me
        await self._postgres.rows(_JOIN, (me.id, me.node, me.address, list(me.labels), me.version))

    async def rejoin(self) -> None:
        """Register again after we were declared gone; requires that we hold no claims. Raises StoreError."""
        await self._drop_connection()
        await self._postgres.rows(_AGAIN, (self.me.id,))
        self._beaten_since = None
        self.is_lost.clear()
        await self.join()

    async def leave(self) -> None:
        """Leave and drop all claims; waits at most `LEAVE_S` for the database."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._postgres.rows(_GONE, (self.me.id,))
                await self._claims.clear(self.me.id)
        await self._drop_connection()

    async def list_living(self) -> list[Member]:
        """Return the processes known to live; raises StoreError."""
        return await list_living(self._postgres)

    async def run(self) -> None:
        """Beat and judge until cancelled or declared gone."""
        while not self.is_lost.is_set():
            began = time.monotonic()
            try:
                await self._beat()
                if time.monotonic() - (self._beaten_since or began) >= self._dead_after_s:
                    await self._judge()
            except Exception as error:  # noqa: BLE001  a node that says nothing any more is given up
                log.warning("the heartbeat of %s failed: %s", self.me.id, _said(error))
                self._beaten_since = None
                await self._drop_connection()
            await asyncio.sleep(max(0.0, self._beat_s - (time.monotonic() - began)))

    async def _beat(self) -> None:
        async with asyncio.timeout(self._dead_after_s):
            connection = self._connection or await self._connect()
            late_s = self._dead_after_s / 2
            found = await fetch_rows(connection, _BEAT, (self.is_draining, self.me.id, late_s))
            if not found:
                log.error("%s was declared gone: it stops", self.me.id)
                self.is_lost.set()
        was_late = bool(found) and found[0][0]  # whatever delayed us may have delayed all others
        if self._beaten_since is None or was_late:
            self._beaten_since = time.monotonic()

    async def _connect(self) -> Connection:
        connection = self._connection = await self._postgres.connect()
        await fetch_rows(connection, "SELECT pg_advisory_lock(hashtextextended(%s, 0))", (self.me.id,))
        return connection

    async def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    # ------------------------------------------------------------------ other processes

    async def _judge(self) -> None:
        connection = self._connection
        if connection is None or self.is_lost.is_set():
            return
        async with asyncio.timeout(JUDGE_S), connection.transaction():
            if not (await fetch_rows(connection, "SELECT pg_try_advisory_xact_lock(%s)", (_JUDGE,)))[0][0]:
                return  # another process does it
            gone = await self._late(connection)
            for worker in gone:
                await self._end(worker)
            is_due = time.monotonic() - self._swept >= SWEEP_S
            if self._hand_on is not None and (gone or is_due):
                self._swept = time.monotonic()
                moved = await self._hand_on(self.is_gone)
                if moved:
                    log.warning("%d assignments of lost workers continue elsewhere", moved)
                await self._postgres.rows(_FORGET)

    async def _late(self, connection: Connection) -> list[str]:
        bounds = (self._dead_after_s, self.me.id, MISSED_BEATS * self._beat_s)
        late = []
        for one, is_dead in await fetch_rows(connection, _LATE, bounds):
            lock = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))"
            if is_dead or (await fetch_rows(connection, lock, (one,)))[0][0]:
                late.append(one)
        return late

    async def _end(self, worker: str) -> None:
        await self._postgres.rows(_GONE, (worker,))
        freed = await self._claims.clear(worker)
        log.warning("%s is gone; sessions that it held: %d", worker, freed)

    async def wait_for_end(self, worker: str) -> bool:
        """Wait until a process with a lost connection has missed its beats; False if it lives.

        It is then marked as gone. For callers that want a session of a process that was just killed. Raises
        StoreError.
        """
        missed_s = MISSED_BEATS * self._beat_s
        for _ in range(LOOKS):
            found = await self._postgres.rows(_LOST, (missed_s, worker))
            if not found:
                return True
            is_free, is_late = found[0]
            if not is_free:
                return False
            if is_late:
                await self._end(worker)
                return True
            await asyncio.sleep(2 * missed_s / LOOKS)
        return False

    async def is_gone(self, worker: str) -> bool:
        """Return whether a process is not registered as living; raises StoreError."""
        return not await self._postgres.rows(_IS_GONE, (worker,))


async def list_living(postgres: Postgres) -> list[Member]:
    """Return the processes known to live; raises StoreError."""
    return [
        Member(name, node, address, tuple(labels), version, draining, silent_s)
        for name, node, address, labels, version, draining, silent_s in await postgres.rows(_MEMBERS)
    ]


def _said(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


# ---------------------------------------------------------------------------- member cache
# A short-lived cache of the living members of a cluster.


FRESH_S = 1.0
UNKNOWN_S = 0.1  # for a member that may just have joined


class MemberSource(Protocol):
    """The source of the living members."""

    async def list_living(self) -> list[Member]:
        """Return the living members; raises StoreError."""
        ...


class MemberCache:
    """The members of a cluster, reread at most once a second."""

    def __init__(self, members: MemberSource, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._members = members
        self._monotonic_s = monotonic_s
        self._known: dict[str, Member] = {}
        self._read_s = float("-inf")

    async def all(self) -> list[Member]:
        """Return the living members, in an outage the last known; raises StoreError if none are known."""
        if self._monotonic_s() - self._read_s >= FRESH_S:
            try:
                self._known = {member.id: member for member in await self._members.list_living()}
            except StoreError:
                if not self._known:
                    raise
            self._read_s = self._monotonic_s()
        return list(self._known.values())

    async def find(self, worker: str) -> Member | None:
        """Return a member by its id; None if it is not living."""
        if worker not in self._known and self._monotonic_s() - self._read_s >= UNKNOWN_S:
            self._read_s = float("-inf")
        return next((member for member in await self.all() if member.id == worker), None)

    async def reread(self) -> None:
        """Read the members now, also those that joined a moment ago; keeps the last known in an outage."""
        self._read_s = float("-inf")
        await self.all()

    async def workers(self) -> list[Member]:
        """Return the members that run sessions; those about to stop come last."""
        found = [member for member in await self.all() if member.address]
        return sorted(found, key=lambda member: member.draining)
