"""Every edit of stored data is detected, and repairs lose nothing."""

from pathlib import Path

import apsw
import pytest

from bridle.core.errors import SessionNotFound
from bridle.stores.integrity import SessionCheck, fsck, verify
from bridle.stores.jsonl import JsonlStore
from bridle.stores.record_lines import Flaw
from bridle.stores.sqlite import SqliteStore
from tests.stores.sample import (
    OTHER,
    SAMPLES,
    CountingClock,
    S,
    created,
    finished,
    make_store,
    overwrite,
    said,
)

SMALL = [created(), said("hi"), finished("c1")]


async def small_file(place: Path) -> tuple[JsonlStore, Path]:
    """Store three records in two batches."""
    store = JsonlStore(place, CountingClock())
    await store.append(S, 0, SMALL[:1])
    await store.append(S, 1, SMALL[1:])
    return store, place / f"{S}.jsonl"


async def is_proven(store: JsonlStore | SqliteStore) -> bool:
    try:
        return (await verify(store, S)).ok
    except SessionNotFound:
        return False


async def test_replacing_any_byte_of_a_text_file_is_found(tmp_path: Path):
    store, path = await small_file(tmp_path)
    whole = path.read_bytes()

    for position, byte in enumerate(whole):
        for other in {byte ^ 1, byte ^ 0x80, 0x20, 0x0A, 0x00, 0x30} - {byte}:
            overwrite(path, whole[:position] + bytes([other]) + whole[position + 1 :])
            assert not await is_proven(store), (position, byte, other)

    overwrite(path, whole)
    assert await is_proven(store)


async def test_removing_or_adding_any_byte_of_a_line_is_found(tmp_path: Path):
    store, path = await small_file(tmp_path)
    whole = path.read_bytes()
    mark = whole.index(b" \n")  # it says that the batch continues and is no part of the line

    for position in range(len(whole)):
        if position != mark:
            overwrite(path, whole[:position] + whole[position + 1 :])
            assert not await is_proven(store), position
        overwrite(path, whole[:position] + b"0" + whole[position:])
        assert not await is_proven(store), position


async def test_replacing_any_byte_of_a_database_line_is_found(tmp_path: Path):
    store = SqliteStore(tmp_path / "bridle.db", CountingClock())
    await store.append(S, 0, SMALL)
    other = apsw.Connection(str(tmp_path / "bridle.db"))
    other.pragma("synchronous", "off")
    put = "UPDATE records SET line = ? WHERE seq = ?"

    for seq, line in enumerate([line async for line in store.lines(S)], 1):
        for position, byte in enumerate(line):
            for edited in {byte ^ 1, 0x20} - {byte}:
                other.execute(put, (line[:position] + bytes([edited]) + line[position + 1 :], seq))
                verdict = await verify(store, S)
                assert verdict.flaw is not None, (seq, position)
                assert verdict.flaw.seq == seq, (seq, position)
        other.execute(put, (line, seq))

    assert (await verify(store, S)).ok
    other.close()
    await store.aclose()


@pytest.mark.parametrize("kind", ["sqlite", "jsonl", "ephemeral"])
async def test_the_verdict_names_the_first_bad_record(kind: str, tmp_path: Path):
    store = make_store(kind, tmp_path)
    records = await store.append(S, 0, SAMPLES)

    assert await verify(store, S) == SessionCheck(S, len(SAMPLES), records[-1].hash)
    await store.aclose()


async def test_an_edited_record_is_named_with_what_is_proven_before_it(tmp_path: Path):
    store, path = await small_file(tmp_path)
    first = (await store.read(S))[0]
    overwrite(path, path.read_bytes().replace(b'"hi"', b'"ho"'))

    flaw = Flaw("bad_hash", "it differs from what was recorded", S, 2)
    assert await verify(store, S) == SessionCheck(S, 1, first.hash, flaw)
    assert await fsck(store, repair=True) == [flaw]
    assert len(await store.read(S)) == 3


async def test_one_report_lists_everything(tmp_path: Path):
    store = JsonlStore(tmp_path, CountingClock())
    await store.append(S, 0, SAMPLES)
    await store.append(OTHER, 0, [created(OTHER)])
    path = tmp_path / f"{S}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"true", b"null")
    lines[4] = lines[4].replace(b"please", b"thanks")
    del lines[7]
    overwrite(path, b"".join(lines) + b'{"seq":')
    with (tmp_path / f"{OTHER}.jsonl").open("ab") as file:
        file.write(b"\x00" * 100)

    found = await fsck(store)

    assert [(flaw.session, flaw.kind, flaw.seq) for flaw in found] == [
        (S, "torn_tail", len(SAMPLES) + 1),
        (OTHER, "torn_tail", 2),
        (S, "unreadable_line", 3),
        (S, "bad_hash", 5),
        (S, "gap", 8),
    ]


async def test_a_repair_cuts_a_torn_tail_and_keeps_its_bytes(tmp_path: Path):
    store, path = await small_file(tmp_path)
    whole = path.read_bytes()
    overwrite(path, whole + b'{"seq":4,')

    torn = Flaw("torn_tail", "9 bytes of an unfinished append", S, 4)
    assert await fsck(store) == [torn]
    assert (await verify(store, S)).flaw == torn
    assert [flaw.repaired for flaw in await fsck(store, repair=True)] == [True]
    assert await fsck(store) == []
    assert path.read_bytes() == whole
    assert path.with_suffix(".torn").read_bytes() == b'{"seq":4,'
