"""What the stores cost: appending one event, and opening a long session for its next turn."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
from measure import report
from store_session import CLOCK, SESSION, long_session, open_tail, turn_events

from bridle.core.codec import GENESIS, decode_record, encode, encode_records
from bridle.core.ports import Store
from bridle.core.protocol import Record
from bridle.stores.jsonl import JsonlStore
from bridle.stores.sqlite import SqliteStore

APPENDS = 400
ROUNDS = 25
MESSAGES = 5_000
LARGE_BYTES = 40_000_000

Row = tuple[str, float, float]


def main() -> list[Row]:
    """Run all of it; the bars are those of the issue."""
    with tempfile.TemporaryDirectory() as place:
        rows = asyncio.run(appends(Path(place)))
        rows += asyncio.run(openings(Path(place)))
        rows += memory(Path(place))
    return report(rows)


async def appends(place: Path) -> list[Row]:
    """Append one event at a time, in turns with bare inserts of the same bytes into the same table."""
    events = turn_events(turn=1)
    lines = [line for _, line in encode_records(GENESIS, 1, CLOCK.now_ms(), events)]
    bare = bare_database(place / "bare.db")
    stores: dict[str, Store] = {
        "SqliteStore": SqliteStore(place / "bridle.db", CLOCK),
        "JsonlStore": JsonlStore(place / "sessions", CLOCK),
    }
    times: dict[str, list[float]] = {name: [] for name in ("bare", *stores)}
    for done in range(0, ROUNDS * APPENDS, APPENDS):
        started = time.process_time()
        for seq in range(done, done + APPENDS):
            line = lines[seq % len(lines)]
            bare.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (SESSION, seq + 1, CLOCK.now_ms(), line))
        times["bare"].append(time.process_time() - started)
        for name, store in stores.items():
            started = time.process_time()
            for seq in range(done, done + APPENDS):
                await store.append(SESSION, seq, [events[seq % len(events)]])
            times[name].append(time.process_time() - started)
    bare.close()
    for store in stores.values():
        await store.aclose()
    best = {name: min(found) / APPENDS * 1e6 for name, found in times.items()}
    print("append of one event, µs CPU:", {name: round(value, 1) for name, value in best.items()})
    return [
        ("SqliteStore.append / bare apsw WAL insert", best["SqliteStore"] / best["bare"], 2.0),
        ("JsonlStore.append / bare apsw WAL insert", best["JsonlStore"] / best["bare"], 2.0),
    ]


def bare_database(path: Path) -> apsw.Connection:
    """Make the same table, with the same settings."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.execute(
        "CREATE TABLE records (session TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, "
        "line BLOB NOT NULL, PRIMARY KEY (session, seq)) STRICT"
    )
    return connection


async def openings(place: Path) -> list[Row]:
    """Read the newest records that fill a window, against reading just these lines from a plain file."""
    events = long_session(MESSAGES)
    rows = []
    for name, store in both_stores(place / "long"):
        await store.append(SESSION, 0, events)
        records = await open_tail(store)
        plain = place / f"{name}.plain"
        everything = await store.read(SESSION)
        lines = [encode(record) + b"\n" for record in everything]
        plain.write_bytes(b"".join(lines))
        start = sum(len(line) for line in lines[: -len(records)])
        assert read_plain(plain, start) == records
        plain_s, store_s = await in_turns(lambda p=plain, s=start: read_plain(p, s), store)
        size = plain.stat().st_size
        print(
            f"{name}: {MESSAGES} messages, {len(everything)} records, {size / 1e6:.1f} MB; "
            f"{len(records)} records, {(size - start) / 1e3:.0f} kB opened in {store_s * 1e3:.2f} ms, "
            f"plain {plain_s * 1e3:.2f} ms"
        )
        rows.append((f"{name}: open for the next turn / plain read of that part", store_s / plain_s, 3.0))
        await store.aclose()
    return rows


async def in_turns(plain: Callable[[], object], store: Store) -> tuple[float, float]:
    """Time both, alternating, so that noise meets them alike; return the least CPU of each."""
    plain_s, store_s = [], []
    for _ in range(ROUNDS):
        started = time.process_time()
        plain()
        plain_s.append(time.process_time() - started)
        started = time.process_time()
        await open_tail(store)
        store_s.append(time.process_time() - started)
    return min(plain_s), min(store_s)


def read_plain(path: Path, start: int) -> list[Record]:
    """Read and decode the end of a file whose place is known."""
    with path.open("rb") as file:
        file.seek(start)
        return [decode_record(line) for line in file.read().splitlines()]


def both_stores(place: Path) -> Iterator[tuple[str, SqliteStore | JsonlStore]]:
    """Give each durable store an empty place."""
    place.mkdir(exist_ok=True)
    yield "SqliteStore", SqliteStore(place / "bridle.db", CLOCK)
    yield "JsonlStore", JsonlStore(place / "sessions", CLOCK)


def memory(place: Path) -> list[Row]:
    """Open a session of 40 MB in a process of its own and see how far its memory grows."""
    rows = []
    for kind in ("sqlite", "jsonl"):
        script = Path(__file__).with_name("store_session.py")
        done = subprocess.run(
            [sys.executable, script, kind, str(place / f"large-{kind}"), str(LARGE_BYTES)],
            capture_output=True,
            text=True,
            check=True,
        )
        size, growth = map(int, done.stdout.split())
        print(f"{kind}: a session of {size / 1e6:.1f} MB opens with {growth / 1e6:.1f} MB more memory")
        rows.append((f"{kind}: memory to open a 40 MB session / its size", growth / size, 0.25))
    return rows


if __name__ == "__main__":
    main()
