"""The PostgreSQL store: appends, reads, lists, claims and notifications, compared with bare psycopg.

The floor of an append is one insert of the same line into a table of the same shape, on as many connections,
without session row, hash chain or claim. Everything waits for the disk at each commit.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from measure import report, rounds
from msgspec import Struct
from rows import Line, Row, figure, ours
from scale_stage import load, spread, start_postgres, tree_cpu_s
from store_session import CLOCK, turn_events

POOL = 16
SECONDS = 2.0
ROUNDS = rounds(3)
LISTED = 10_000
AT_ONCE = (1, 16, 64)
TABLE = "CREATE TABLE bare (session text, seq bigint, at bigint, line bytea, PRIMARY KEY (session, seq))"
BARE = "INSERT INTO bare VALUES (%s, %s, %s, %s)"


class Figures(Struct, frozen=True):
    """The rate of an operation per second, and the CPU of each operation."""

    per_s: float
    here_ms: float
    there_ms: float

    @property
    def cpu_ms(self) -> float:
        """Return the CPU of this process and of PostgreSQL."""
        return self.here_ms + self.there_ms


async def rate(workers: int, work: Callable[[int, int], Awaitable[None]], pid: int) -> Figures:
    """Do work in parallel tasks for a while; `pid` is PostgreSQL's."""
    done, began, cpu, database = [0] * workers, time.monotonic(), time.process_time(), tree_cpu_s(pid)

    async def one(place: int) -> None:
        while time.monotonic() - began < SECONDS:
            await work(place, done[place])
            done[place] += 1

    await asyncio.gather(*(one(place) for place in range(workers)))
    all_of_it = sum(done)
    return Figures(
        all_of_it / (time.monotonic() - began),
        (time.process_time() - cpu) / all_of_it * 1e3,
        (tree_cpu_s(pid) - database) / all_of_it * 1e3,
    )


def middle(found: list[Figures]) -> Figures:
    """Return the median of each figure."""
    names = Figures.__struct_fields__
    return Figures(*(statistics.median(getattr(one, name) for one in found) for name in names))


async def appends(postgres: Any, store: Any, pid: int) -> list[Line]:
    """Append one event at a time in 1, 16 and 64 sessions, alternating with bare inserts."""
    from bridle.core.codec import GENESIS, encode_records
    from bridle.core.ids import SessionId

    events = turn_events(turn=1)
    lines = [line for _, line in encode_records(GENESIS, 1, CLOCK.now_ms(), events)]
    await postgres.rows(TABLE)
    rows: list[Line] = []
    for sessions in AT_ONCE:
        found: dict[str, list[Figures]] = {"bare": [], "store": []}
        for number in range(ROUNDS):
            names = [SessionId(f"{sessions}-{number}-{place}") for place in range(sessions)]

            async def bare(place: int, done: int, names: list[SessionId] = names) -> None:
                await postgres.rows(BARE, (names[place], done + 1, 0, lines[done % len(lines)]))

            async def append(place: int, done: int, names: list[SessionId] = names) -> None:
                await store.append(names[place], done, [events[done % len(events)]])

            found["bare"].append(await rate(sessions, bare, pid))
            found["store"].append(await rate(sessions, append, pid))
        floor, store_s = middle(found["bare"]), middle(found["store"])
        print(
            f"appends, {sessions} sessions: {store_s.per_s:,.0f}/s (bare {floor.per_s:,.0f}/s); CPU of each "
            f"{store_s.here_ms:.2f} ms here and {store_s.there_ms:.2f} ms in PostgreSQL "
            f"(bare {floor.here_ms:.2f} and {floor.there_ms:.2f})"
        )
        ourselves = ours(one.cpu_ms for one in found["store"])
        bare_insert = figure("a bare insert by psycopg", (one.cpu_ms for one in found["bare"]))
        what = f"an append on PostgreSQL, {sessions} sessions at once"
        rows.append(Row(f"scale.append.{sessions}", what, "ms CPU", ourselves, (bare_insert,), 3.0))
    return rows


async def others(postgres: Any, store: Any, pid: int) -> None:
    """Print the cost of claims, reads and notifications."""
    from bridle.core.ids import SessionId
    from bridle.stores.postgres.claims import PostgresClaims
    from bridle.stores.postgres.listener import NotificationListener

    claims = PostgresClaims(postgres, "bench")

    async def claim(place: int, done: int) -> None:
        session = SessionId(f"16-0-{place}")
        assert await claims.claim(session)
        await claims.release(session)

    found = await rate(16, claim, pid)
    print(f"claims: {found.per_s:,.0f}/s taken and given back, 16 sessions at once")
    session = SessionId("1-0-0")
    length = len(await store.read(session))

    async def tail(place: int, done: int) -> None:
        await store.read(session, limit=64, newest=True)

    found = await rate(16, tail, pid)
    print(
        f"reads of the newest 64 records of {length}: {found.per_s:,.0f}/s, {found.here_ms:.2f} ms CPU here"
    )
    listener, heard = NotificationListener(postgres), asyncio.Event()
    listener.listen("bridle_records", lambda payload: heard.set())
    listening = asyncio.create_task(listener.run())
    await asyncio.sleep(0.5)
    late = []
    for number in range(200):
        heard.clear()
        began = time.monotonic()
        await store.append(SessionId("told"), number, [turn_events(1)[0]])
        await heard.wait()
        late.append(time.monotonic() - began)
    listening.cancel()
    print(f"from an append to its notice at a listener, 5 ms of it to collect others: {spread(late)}")


async def listing(store: Any) -> None:
    """Print the cost of listing many sessions."""
    from bridle.core.ids import SessionId
    from bridle.core.protocol import SessionCreated

    slots = asyncio.Semaphore(POOL)

    async def begin(number: int) -> None:
        async with slots:
            session = SessionId(f"listed-{number}")
            await store.append(session, 0, [SessionCreated(session, "/work", "default")])

    began = time.monotonic()
    await asyncio.gather(*(begin(number) for number in range(LISTED)))
    made = LISTED / (time.monotonic() - began)
    times = []
    for _ in range(5):
        began = time.monotonic()
        found = await store.list()
        times.append(time.monotonic() - began)
    print(
        f"sessions created: {made:,.0f}/s; list of {len(found):,}: {statistics.median(times) * 1e3:.0f} ms "
        f"({statistics.median(times) / len(found) * 1e6:.0f} µs each)"
    )


async def measure() -> list[Line]:
    """Run all measurements on one server."""
    from bridle.stores.postgres.migrations import migrate
    from bridle.stores.postgres.pool import Postgres
    from bridle.stores.postgres.store import PostgresStore

    server = start_postgres()
    postgres = Postgres(server.url("bridle"), size=POOL)
    try:
        await migrate(postgres)
        store = PostgresStore(postgres, CLOCK, "bench")
        await postgres.rows("INSERT INTO bridle.workers (id) VALUES ('bench')")
        rows = await appends(postgres, store, server.pid)
        await others(postgres, store, server.pid)
        await listing(store)
    finally:
        await postgres.aclose()
        server.stop()
    print(load())
    return rows


def main() -> list[Line]:
    """Compare with the floor."""
    return report(asyncio.run(measure()))


if __name__ == "__main__":
    main()
