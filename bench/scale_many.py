"""Basis of the sizing: bytes in PostgreSQL, the load of idle nodes, and the store with 100,000 sessions.

`engine`: runs of 10 turns through a gateway and a worker; growth of the tables of Bridle and of its engine.
`many`: sessions of two turns each, written by the store itself; lists, openings and appends before and after.
"""

import asyncio
import statistics
import tempfile
import time
from typing import Any

from measure import report
from rows import Line, Row, figure, ours
from scale_stage import Cluster, cluster, load, looking, run_once, start_postgres, until_quiet, used
from store_session import CLOCK, turn_events

RUNS = 40
TURNS = 10
IDLE_S = 5.0
SESSIONS = 100_000
FEW = 1_000
POOL = 16
SAMPLES = 200

TABLES = {"records": ("bridle", "records%"), "sessions": ("bridle", "sessions"), "engine": ("dbos", "%")}
SIZES = """
SELECT sum(pg_total_relation_size(c.oid)), sum(pg_indexes_size(c.oid)) FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = '{schema}' AND c.relkind = 'r' AND c.relname LIKE '{table}'
"""


async def engine(folder: str) -> None:
    """Print the load of idle nodes, and how much data a run leaves in the database."""
    async with cluster(folder) as stage:
        model = stage.script(looking(TURNS))
        counts = [0]
        for role in ("worker", "gateway"):
            await stage.start(role)
            counts.append(await connections(stage))
        idle = await idle_cores(stage)
        parts = ", ".join(f"{role} {cores:.3f}" for role, cores in idle.items())
        print(f"idle cores: {parts}; connections: worker {counts[1]}, gateway {counts[2] - counts[1]}")
        gateway = stage.processes[1]
        async with stage.client(gateway) as api:
            await asyncio.gather(*(run_once(api, stage.work, model) for _ in range(RUNS)))
            before = figures(stage)
            await asyncio.gather(*(run_once(api, stage.work, model) for _ in range(RUNS)))
            await until_quiet(stage)
        grown = {name: (after - before[name]) / RUNS for name, after in figures(stage).items()}
        each = ", ".join(f"{name} {grown[name] / 1024:.1f} kB" for name in (*TABLES, "WAL"))
        often = ", ".join(f"{grown[name]:.0f} {name}" for name in ("transactions", "flushes"))
        print(f"a run of {TURNS} turns leaves: {each}; it takes {often}")
        together = await connections(stage)
        await stage.stop(gateway)
        alone = await connections(stage)
        print(f"connections after {2 * RUNS} runs: worker {alone}, gateway {together - alone}; {load()}")


async def connections(stage: Cluster) -> int:
    """Return the number of connections once it is stable."""
    await asyncio.sleep(1)
    asked = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    found: int = stage.run(asked)[0][0]
    return found - 1


async def idle_cores(stage: Cluster) -> dict[str, float]:
    """Return the load of idle processes."""
    before = stage.cpu()
    await asyncio.sleep(IDLE_S)
    return {role: cpu / IDLE_S for role, cpu in used(before, stage.cpu()).items()}


def figures(stage: Cluster) -> dict[str, int]:
    """Return the bytes of tables with their indexes, and PostgreSQL's counters."""
    stage.run("CHECKPOINT")
    time.sleep(1.1)  # backends report once a second
    found = {
        name: stage.run(SIZES.format(schema=schema, table=table))[0][0]
        for name, (schema, table) in TABLES.items()
    }
    found["WAL"] = stage.run("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")[0][0]
    found["transactions"] = stage.run("SELECT sum(xact_commit) FROM pg_stat_database")[0][0]
    found["flushes"] = stage.run("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'")[0][0]
    return {name: int(value) for name, value in found.items()}


# ---------------------------------------------------------------------------- many sessions


def named(number: int) -> Any:
    """Return a session id as long and as ordered as real ones."""
    from bridle.core.ids import SessionId

    return SessionId(f"0193a5c0-1111-7222-8333-{number:012x}")


def small_session(session: Any) -> list[Any]:
    """Return the events of a session of two turns."""
    from bridle.core.protocol import SessionCreated

    return [SessionCreated(session, "/home/me/project", "default"), *turn_events(1), *turn_events(2)]


async def fill(store: Any, first: int, last: int) -> float:
    """Write sessions; return how many per second."""
    numbers = iter(range(first, last))
    began = time.monotonic()

    async def one() -> None:
        for number in numbers:
            session = named(number)
            await store.append(session, 0, small_session(session))

    await asyncio.gather(*(one() for _ in range(POOL)))
    return (last - first) / (time.monotonic() - began)


async def look(store: Any, count: int) -> dict[str, list[float]]:
    """Return the seconds of a list, of opening a session, and of an append to one."""
    found: dict[str, list[float]] = {"list": [], "open": [], "append": []}
    length = len(small_session("x"))
    for number in range(SAMPLES):
        session = named(number * count // SAMPLES)
        began = time.monotonic()
        records = await store.read(session)
        found["open"].append(time.monotonic() - began)
        assert len(records) >= length, session
        began = time.monotonic()
        await store.append(session, records[-1].seq, turn_events(3)[:1])
        found["append"].append(time.monotonic() - began)
    for _ in range(7):
        began = time.monotonic()
        listed = await store.list()
        found["list"].append(time.monotonic() - began)
    parts = ", ".join(f"{name} {statistics.median(times) * 1e3:.2f} ms" for name, times in found.items())
    print(f"{count:,} sessions: {parts} (the list has {len(listed):,})")
    return found


async def many() -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Compare a store of few sessions with one of many."""
    from bridle.stores.postgres.migrations import migrate
    from bridle.stores.postgres.pool import Postgres
    from bridle.stores.postgres.store import PostgresStore

    server = start_postgres()
    postgres = Postgres(server.url("bridle"), size=POOL)
    try:
        await migrate(postgres)
        await fill(PostgresStore(postgres, CLOCK), 0, FEW)
        few = await look(PostgresStore(postgres, CLOCK), FEW)
        per_s = await fill(PostgresStore(postgres, CLOCK), FEW, SESSIONS)
        server.run("VACUUM ANALYZE", database="bridle")
        lots = await look(PostgresStore(postgres, CLOCK), SESSIONS)
        for table in ("records%", "sessions"):
            [(total, indexes)] = server.run(SIZES.format(schema="bridle", table=table), database="bridle")
            print(
                f"{table.strip('%')}: {int(total) / SESSIONS:,.0f} bytes for each session, "
                f"{int(indexes) / SESSIONS:,.0f} of them indexes"
            )
        print(
            f"written with {per_s:,.0f} sessions/s, {len(small_session('x'))} records each; "
            f"shared_buffers {server.run('SHOW shared_buffers')[0][0]}; {load()}"
        )
    finally:
        await postgres.aclose()
        server.stop()
    return few, lots


def main() -> list[Line]:
    """A hundred times as many sessions may cost a little more, but not a hundred times as much."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(engine(folder))
    few, lots = asyncio.run(many())
    rows = []
    for name, what in {"open": "opening a session", "append": "an append"}.items():
        fewer = figure(f"with {FEW:,}", few[name], scale=1e3)
        title = f"{what} with {SESSIONS:,} sessions in PostgreSQL"
        rows.append(Row(f"scale.many.{name}", title, "ms", ours(lots[name], scale=1e3), (fewer,), 3.0))
    return report(rows)


if __name__ == "__main__":
    main()
