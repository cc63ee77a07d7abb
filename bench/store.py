"""Cost of the stores: appending one event, and opening a long session for its next turn."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
from measure import report, rounds
from rows import Line, Row, figure, ours
from store_session import CLOCK, SESSION, long_session, open_tail, turn_events

from bridle.core.codec import GENESIS, decode_record, encode, encode_records
from bridle.core.ports import Store
from bridle.core.protocol import Record
from bridle.stores.jsonl import JsonlStore
from bridle.stores.sqlite import SqliteStore

APPENDS = 400
ROUNDS = rounds(25)
MESSAGES = 5_000
LARGE_BYTES = 40_000_000
KINDS = {"SqliteStore": "sqlite", "JsonlStore": "jsonl"}


def main() -> list[Line]:
    """Run all measurements, and compare with the bars."""
    with tempfile.TemporaryDirectory() as place:
        rows: list[Line] = [*asyncio.run(appends(Path(place)))]
        rows += asyncio.run(openings(Path(place)))
        rows += memory(Path(place))
    return report(rows)


async def appends(place: Path) -> list[Row]:
    """Append one event at a time, alternating with bare inserts of the same bytes into the same table."""
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
    scale = 1e6 / APPENDS
    insert = figure("a bare insert by apsw", times["bare"], scale=scale)
    return [
        Row(
            f"store.append.{KINDS[name]}",
            f"append of one event, {name}",
            "µs CPU",
            ours(times[name], scale=scale),
            (insert,),
            2.0,
        )
        for name in stores
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
    """Read the newest records that fill a window, compared with reading these lines from a plain file."""
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
            f"{len(records)} records, {(size - start) / 1e3:.0f} kB opened"
        )
        read = figure("a plain read of that part", plain_s, scale=1e3)
        what = f"open {MESSAGES:,} messages for the next turn, {name}"
        rows.append(Row(f"store.open.{KINDS[name]}", what, "ms CPU", ours(store_s, scale=1e3), (read,), 3.0))
        await store.aclose()
    return rows


async def in_turns(plain: Callable[[], object], store: Store) -> tuple[list[float], list[float]]:
    """Time both, alternating, so that noise affects both equally; return the CPU seconds of each."""
    plain_s, store_s = [], []
    for _ in range(ROUNDS):
        started = time.process_time()
        plain()
        plain_s.append(time.process_time() - started)
        started = time.process_time()
        await open_tail(store)
        store_s.append(time.process_time() - started)
    return plain_s, store_s


def read_plain(path: Path, start: int) -> list[Record]:
    """Read and decode the end of a file from a known position."""
    with path.open("rb") as file:
        file.seek(start)
        return [decode_record(line) for line in file.read().splitlines()]


def both_stores(place: Path) -> Iterator[tuple[str, SqliteStore | JsonlStore]]:
    """Yield each durable store in an empty folder."""
    place.mkdir(exist_ok=True)
    yield "SqliteStore", SqliteStore(place / "bridle.db", CLOCK)
    yield "JsonlStore", JsonlStore(place / "sessions", CLOCK)


def memory(place: Path) -> list[Row]:
    """Open a session of 40 MB in a separate process and measure how far its memory grows."""
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
        whole = figure("its size", [size], scale=1e-6)
        what = f"memory to open a session of 40 MB, {kind}"
        rows.append(Row(f"store.memory.{kind}", what, "MB", ours([growth], scale=1e-6), (whole,), 0.25))
    return rows


if __name__ == "__main__":
    main()
