"""A process that writes to a store, to be raced, killed or starved of disk space.

`writer.py hammer KIND PLACE NAME COUNT`   append COUNT titles against all others; print the numbers won
`writer.py crash KIND PLACE KILLS SEED`    fork, append, kill -9 at a random moment, check; KILLS times
`writer.py fill KIND PLACE full|limited`   append until there is no room, make room, continue
`writer.py look KIND PLACE`                read what was closed before the disk filled up, make room, continue
"""

import asyncio
import json
import os
import random
import resource
import select
import signal
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from bridle.core.errors import SessionConflict, StoreError, StoreFull
from bridle.core.messages import ToolResult
from bridle.core.protocol import SessionTitled, ToolFinished
from bridle.stores.integrity import fsck, verify
from tests.stores.sample import S, created, make_store


async def hammer(kind: str, place: Path, name: str, count: str) -> None:
    store = make_store(kind, place)
    won: list[int] = []
    seq = 1
    while len(won) < int(count):
        try:
            (record,) = await store.append(S, seq, [SessionTitled(f"{name} {len(won)}")])
            won.append(record.seq)
            seq = record.seq
        except SessionConflict:
            seq = (await store.read(S, limit=1, newest=True))[0].seq
    await store.aclose()
    print(json.dumps(won))


# ---------------------------------------------------------------------------- crash


async def crash(kind: str, place: Path, kills: str, seed: str) -> None:
    chance = random.Random(int(seed))
    acknowledged = total = 0
    for _ in range(int(kills)):
        last = kill_a_writer(kind, place, chance)
        total += last - acknowledged
        acknowledged = last
        store = make_store(kind, place)
        await check_record(store, acknowledged)
        if chance.random() < 0.2:  # so that the record does not grow too long to check
            await store.delete(S)
            acknowledged = 0
        await store.aclose()
    print(total)


def kill_a_writer(kind: str, place: Path, chance: random.Random) -> int:
    """Let a child append until a random moment; return the last acknowledged number."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        asyncio.run(append_for_ever(kind, place, writing, random.Random(chance.random())))
    os.close(writing)
    chance.random()  # the child has drawn this one
    select.select([reading], [], [])  # it has begun
    time.sleep(chance.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told = b""
    while block := os.read(reading, 65536):
        told += block
    os.close(reading)
    return max(struct.unpack(f"<{len(told) // 8}q", told[: len(told) // 8 * 8]), default=0)


async def append_for_ever(kind: str, place: Path, told: int, chance: random.Random) -> None:
    store = make_store(kind, place)
    newest = await store.read(S, limit=1, newest=True)
    seq = newest[0].seq if newest else 0
    while True:
        size = chance.choice([1, 1, 2, 5])
        output = "x" * chance.choice([10, 200, 1_000, 5_000, 50_000])
        batch = [ToolFinished(ToolResult(f"{seq + 1}+{size}", "t", output)) for _ in range(size)]
        records = await store.append(S, seq, batch)
        seq = records[-1].seq
        os.write(told, struct.pack("<q", seq))


async def check_record(store, acknowledged: int) -> None:
    records = await store.read(S)
    assert [r.seq for r in records] == list(range(1, len(records) + 1)), "numbers are not in order"
    assert len(records) >= acknowledged, f"{acknowledged} acknowledged, {len(records)} stored"
    while records:
        first, _, size = records[0].event.result.call_id.partition("+")
        batch, records = records[: int(size)], records[int(size) :]
        assert [r.event.result.call_id for r in batch] == [f"{first}+{size}"] * int(size), "a batch is torn"
        assert batch[0].seq == int(first)
    await fsck(store, repair=True)
    assert (await verify(store, S)).ok
    assert await fsck(store) == []


# ---------------------------------------------------------------------------- full disk


async def fill(kind: str, place: Path, how: str) -> None:
    store = make_store(kind, place)
    seq = len(await store.append(S, 0, [created(), *some_events(20)]))
    make_room = take_all_room(place, how)
    while True:
        try:
            seq += len(await store.append(S, seq, some_events(3)))
        except StoreError as error:
            failure = error
            break
    assert isinstance(failure, StoreFull) or (kind == "sqlite" and how == "limited"), repr(failure)
    for _ in range(3):
        try:
            await store.append(S, seq, some_events(50))
            raise AssertionError("there is room for 50 events and not for 3")
        except StoreError:
            pass
    await check_readable(store, seq)
    await store.aclose()
    store = make_store(kind, place)
    await check_readable(store, seq)
    make_room()
    seq += len(await store.append(S, seq, some_events(50)))
    await check_readable(store, seq)
    assert await fsck(store) == []
    await store.aclose()
    print("ok")


async def look(kind: str, place: Path) -> None:
    store = make_store(kind, place)
    seq = len(await store.append(S, 0, [created(), *some_events(20)]))
    await store.aclose()
    make_room = take_all_room(place, "full")
    later = make_store(kind, place)
    await check_readable(later, seq)
    try:
        await later.append(S, seq, some_events(50))
        raise AssertionError("there is room")
    except StoreFull:
        pass
    make_room()
    seq += len(await later.append(S, seq, some_events(50)))
    await check_readable(later, seq)
    await later.aclose()
    print("ok")


def some_events(count: int) -> list[ToolFinished]:
    return [ToolFinished(ToolResult(f"c{n}", "t", "x" * 700)) for n in range(count)]


def take_all_room(place: Path, how: str):
    """Leave no room for another page; return a function that gives it back."""
    if how == "limited":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        largest = max(path.stat().st_size for path in place.rglob("*") if path.is_file())
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 10_000, before[1]))
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    return ballast.unlink


async def check_readable(store, seq: int) -> None:
    assert [r.seq for r in await store.read(S)] == list(range(1, seq + 1))
    assert [s.last_seq for s in await store.list()] == [seq]
    verdict = await verify(store, S)
    assert verdict.ok, verdict
    assert verdict.records == seq


if __name__ == "__main__":
    command = {"hammer": hammer, "crash": crash, "fill": fill, "look": look}[sys.argv[1]]
    asyncio.run(command(sys.argv[2], Path(sys.argv[3]), *sys.argv[4:]))
