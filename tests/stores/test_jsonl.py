"""The files of the text store: torn, truncated, private, listed without reading all of them."""

import logging
import os
from pathlib import Path

import pytest

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.core.ids import SessionId
from bridle.core.protocol import RunStarted, SessionTitled
from bridle.stores.integrity import fsck, verify
from bridle.stores.jsonl import JsonlStore
from bridle.stores.record_lines import Flaw
from tests.stores.sample import RUN, SAMPLES, CountingClock, S, created, finished, overwrite, said


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def store(place: Path) -> JsonlStore:
    return JsonlStore(place, CountingClock())


async def test_the_file_holds_the_exact_lines_and_marks_where_a_batch_goes_on(store: JsonlStore, place: Path):
    await store.append(S, 0, [created()])
    await store.append(S, 1, [said("one"), said("two"), said("three")])

    one, two, three, four = [line async for line in store.lines(S)]

    assert (place / f"{S}.jsonl").read_bytes() == b"%b\n%b \n%b \n%b\n" % (one, two, three, four)


async def test_only_the_owner_can_read_the_files(store: JsonlStore, place: Path):
    await store.append(S, 0, [created()])
    await store.list()
    with (place / f"{S}.jsonl").open("ab") as file:
        file.write(b"torn")
    await store.append(S, 1, [said("next")])

    assert place.stat().st_mode & 0o777 == 0o700
    assert {path.name.removeprefix(S): path.stat().st_mode & 0o777 for path in place.iterdir()} == {
        ".jsonl": 0o600,
        ".summary.json": 0o600,
        ".torn": 0o600,
    }


# ---------------------------------------------------------------------------- torn tails


async def test_a_file_cut_at_any_byte_holds_whole_batches_and_goes_on(place: Path):
    """At whichever byte the write of a batch stopped, it is there as a whole or not at all."""
    store = JsonlStore(place, CountingClock())
    await store.append(S, 0, [created(), said("hello")])
    path = place / f"{S}.jsonl"
    first = path.stat().st_size
    await store.append(S, 2, [finished("c1", "x"), finished("c2"), said("bye")])
    whole = path.read_bytes()

    for cut in range(first, len(whole) + 1):
        overwrite(path, whole[:cut])
        path.with_suffix(".torn").unlink(missing_ok=True)
        reopened = JsonlStore(place, CountingClock())
        last = 5 if cut == len(whole) else 2

        assert [record.seq for record in await reopened.read(S)] == list(range(1, last + 1))
        flaw = (await verify(reopened, S)).flaw
        assert (flaw and flaw.seq) == (3 if first < cut < len(whole) else None)
        await reopened.append(S, last, [said("goes on")])
        assert (await verify(reopened, S)).records == last + 1
        torn = path.with_suffix(".torn")
        assert (torn.read_bytes() if torn.exists() else b"") == (b"" if last == 5 else whole[first:cut])


async def test_a_live_store_notices_a_tail_torn_by_another_process(
    store: JsonlStore, place: Path, caplog: pytest.LogCaptureFixture
):
    await store.append(S, 0, [created()])
    with (place / f"{S}.jsonl").open("ab") as file:
        file.write(b'{"seq":2,"at"')

    assert len(await store.read(S)) == 1
    with caplog.at_level(logging.WARNING):
        await store.append(S, 1, [said("next")])

    assert "moved 13 bytes of an unfinished append aside" in caplog.text
    assert (await verify(store, S)).records == 2


async def test_a_session_of_which_only_a_torn_tail_exists(store: JsonlStore, place: Path):
    await store.append(S, 0, [created()])
    path = place / f"{S}.jsonl"
    path.write_bytes(path.read_bytes()[:-1])

    assert await store.read(S) == []
    assert await store.list() == []
    assert [flaw.kind for flaw in await fsck(store, repair=True)] == ["torn_tail", "empty"]
    assert [entry.name for entry in place.iterdir()] == [f"{S}.torn"]
    assert len(await store.append(S, 0, [created()])) == 1


async def test_a_failed_first_append_leaves_no_file(store: JsonlStore, place: Path):
    with pytest.raises(StoreError):
        await store.append(S, 0, [said("\udcff")])

    assert list(place.iterdir()) == []


async def test_a_deleted_session_leaves_no_file(store: JsonlStore, place: Path):
    await store.append(S, 0, [created()])
    await store.list()
    (place / f"{S}.torn").write_bytes(b"old")

    await store.delete(S)

    assert list(place.iterdir()) == []


# ---------------------------------------------------------------------------- damage


async def test_a_damaged_line_is_an_error_only_where_it_is_read(store: JsonlStore, place: Path):
    await store.append(S, 0, SAMPLES)
    path = place / f"{S}.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[9] = b"rubbish"
    path.write_bytes(b"\n".join(lines))

    with pytest.raises(StoreCorrupt, match=f'session "{S}", event 10: stored event is not readable'):
        await store.read(S)
    assert [record.seq for record in await store.read(S, limit=9)] == list(range(1, 10))
    assert [record.seq for record in await store.read(S, after=10, limit=3)] == [11, 12, 13]
    assert [record.seq for record in await store.read(S, limit=5, newest=True)] == list(
        range(len(SAMPLES) - 4, len(SAMPLES) + 1)
    )
    assert len(await store.list(archived=True)) == 1


async def test_a_damaged_last_line_refuses_an_append_and_stays(store: JsonlStore, place: Path):
    await store.append(S, 0, SAMPLES[:3])
    path = place / f"{S}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"seq":3', b'["seq":3'))
    before = path.read_bytes()

    with pytest.raises(StoreCorrupt):
        await JsonlStore(place, CountingClock()).append(S, 3, [said("next")])

    assert path.read_bytes() == before
    assert len(await store.read(S, limit=2)) == 2


async def test_a_missing_line_is_an_error(store: JsonlStore, place: Path):
    await store.append(S, 0, [created()])
    for seq in range(1, 6):
        await store.append(S, seq, [said(f"{seq}")])
    path = place / f"{S}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))

    with pytest.raises(StoreCorrupt, match="event 3: it is missing"):
        await store.read(S)


async def test_a_place_that_is_no_directory_is_an_error(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    store = JsonlStore(tmp_path / "file", CountingClock())

    with pytest.raises(StoreError):
        await store.append(S, 0, [created()])
    with pytest.raises(StoreError):
        await store.list()
    assert (tmp_path / "file").read_text() == "mine"


async def test_foreign_files_in_the_directory_are_left_alone(store: JsonlStore, place: Path):
    await store.append(S, 0, [created()])
    (place / "..jsonl").write_text("not ours")
    (place / "notes.txt").write_text("not ours")

    assert await store.ids() == [S]
    assert await fsck(store, repair=True) == []
    assert (place / "..jsonl").read_text() == "not ours"


# ---------------------------------------------------------------------------- summaries


async def test_a_list_reads_only_what_is_new(store: JsonlStore, place: Path):
    await store.append(S, 0, [created(), said("A long story"), *[finished("c", "x" * 1000)] * 300])
    await store.list()
    await store.append(S, 302, [RunStarted(RUN, "m")])
    path = place / f"{S}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"A long story", b"Not read now"))

    (summary,) = await store.list()

    assert (summary.title, summary.last_seq, summary.unfinished) == ("A long story", 303, True)
    assert summary == (await JsonlStore(place, CountingClock()).list())[0]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"summary":{},"end":{}}'])
async def test_a_broken_sidecar_is_made_anew(store: JsonlStore, place: Path, content: bytes):
    await store.append(S, 0, [created(title="kept")])
    before = await store.list()
    sidecar = place / f"{S}.summary.json"
    good = sidecar.read_bytes()
    sidecar.write_bytes(content)

    assert await store.list() == before
    assert sidecar.read_bytes() == good


async def test_a_large_unread_session_is_listed(store: JsonlStore):
    await store.append(S, 0, [created(title="large"), *[finished("c", "x" * 100_000)] * 30])

    assert [(summary.title, summary.last_seq) for summary in await store.list()] == [("large", 31)]


async def test_a_file_that_lost_its_last_batch_is_reported_and_stays_listed(store: JsonlStore, place: Path):
    """The chain alone cannot tell that whole lines are missing at its end; the sidecar has seen them."""
    await store.append(S, 0, [created()])
    path = place / f"{S}.jsonl"
    size = path.stat().st_size
    await store.append(S, 1, [SessionTitled("lost")])
    await store.list()
    os.truncate(path, size)

    flaw = Flaw("truncated", "it once ended with event 2, which is missing", S, 2)
    assert [summary.title for summary in await store.list()] == [""]
    assert (await verify(store, S)).flaw == flaw
    assert await fsck(store, repair=True) == [flaw]
    assert await fsck(store) == []
    assert [summary.last_seq for summary in await store.list()] == [1]


async def test_an_orphaned_sidecar_is_removed(store: JsonlStore, place: Path):
    await store.append(S, 0, [created()])
    await store.list()
    (place / f"{S}.jsonl").unlink()

    orphan = Flaw("orphan_summary", "it has a summary but no events", S)
    assert await store.list() == []
    assert await fsck(store) == [orphan]
    assert [flaw.repaired for flaw in await fsck(store, repair=True)] == [True]
    assert list(place.iterdir()) == []


async def test_full_sync_appends_as_well(place: Path):
    store = JsonlStore(place, CountingClock(), sync="full")

    await store.append(S, 0, [created(), said("safe")])

    assert (await verify(store, S)).records == 2


async def test_sessions_whose_names_begin_alike_do_not_share_files(store: JsonlStore):
    for name in ("a", "a.summary", "a.torn", "a.jsonl", "events"):
        await store.append(SessionId(name), 0, [created(SessionId(name), title=name)])
    await store.list()
    await store.delete(SessionId("a"))

    assert {summary.title for summary in await store.list()} == {"a.summary", "a.torn", "a.jsonl", "events"}
    assert await fsck(store) == []
