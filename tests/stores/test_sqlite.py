"""The tables of the default store: labels, summaries, and what a deletion leaves."""

from pathlib import Path

import apsw
import pytest

from bridle.core.errors import SessionConflict, StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import RunEnded, SessionTitled
from bridle.stores import record_lines
from bridle.stores.integrity import fsck, verify
from bridle.stores.record_lines import DamagedList, Flaw
from bridle.stores.sqlite import SqliteStore
from tests.stores.sample import RUN, SAMPLES, CountingClock, S, created, finished, said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "bridle.db"


@pytest.fixture
async def store(path: Path):
    opened = SqliteStore(path, CountingClock())
    yield opened
    await opened.aclose()


def meddle(path: Path, statement: str, *bindings: object) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement, bindings)
    connection.close()


async def test_the_lines_are_stored_as_they_are(store: SqliteStore, path: Path):
    await store.append(S, 0, SAMPLES)
    lines = [line async for line in store.lines(S)]

    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT session, seq, line FROM records ORDER BY seq").fetchall()
    connection.close()

    assert rows == [(S, seq, line) for seq, line in enumerate(lines, 1)]


async def test_of_many_sessions_only_the_last_used_are_remembered(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(record_lines, "MAX_ENDS", 2)
    sessions = [SessionId(name) for name in ("a", "b", "c")]
    for session in sessions:
        await store.append(session, 0, [created()])
    for session in ("a", "c"):
        await store.append(SessionId(session), 1, [said("more")])
    for session in sessions:
        with pytest.raises(SessionConflict):
            await store.append(session, 9, [said("out of order")])

    assert list(store._ends) == ["a", "c"]
    assert [len(await store.read(session)) for session in sessions] == [2, 1, 2]


async def test_a_row_with_a_wrong_date_is_found(store: SqliteStore, path: Path):
    await store.append(S, 0, SAMPLES)
    meddle(path, "UPDATE records SET at = at + 1 WHERE seq = 3")

    flaw = Flaw("mislabelled", "the row's number or date is not that of its line", S, 3)
    assert await fsck(store, repair=True) == [flaw]
    assert (await verify(store, S)).flaw == flaw


async def test_a_missing_row_is_found(store: SqliteStore, path: Path):
    await store.append(S, 0, SAMPLES)
    meddle(path, "DELETE FROM records WHERE seq = 3")

    with pytest.raises(StoreCorrupt, match="event 3: it is missing"):
        await store.read(S)
    flaw = (await verify(store, S)).flaw
    assert flaw is not None
    assert flaw.seq == 3
    assert [(flaw.kind, flaw.seq) for flaw in await fsck(store)] == [("gap", 3)]


async def test_missing_rows_at_the_end_are_found_by_the_summary(store: SqliteStore, path: Path):
    await store.append(S, 0, [created(), finished("c1"), SessionTitled("end")])
    meddle(path, "DELETE FROM records WHERE seq > 1")

    flaw = Flaw("truncated", "it had 3 events and has 1", S, 2)
    assert (await verify(store, S)).flaw == flaw
    assert await fsck(store, repair=True) == [flaw]
    assert await fsck(store) == []


async def test_a_damaged_last_line_refuses_an_append(store: SqliteStore, path: Path):
    await store.append(S, 0, [created(), said("hello")])
    meddle(path, "UPDATE records SET line = CAST('rubbish' AS BLOB) WHERE seq = 2")

    with pytest.raises(StoreCorrupt, match="its last event is not readable"):
        await store.append(S, 2, [said("next")])
    assert len(await store.read(S, limit=1)) == 1


@pytest.mark.parametrize("damage", ["DELETE FROM sessions", "UPDATE sessions SET summary = X'FF'"])
async def test_a_lost_summary_is_rebuilt(store: SqliteStore, path: Path, damage: str):
    await store.append(S, 0, SAMPLES)
    before = await store.list(archived=True)
    meddle(path, damage)

    assert (await verify(store, S)).ok
    assert [(flaw.kind, flaw.repaired) for flaw in await fsck(store)] == [("missing_summary", False)]
    assert [(flaw.kind, flaw.repaired) for flaw in await fsck(store, repair=True)] == [
        ("missing_summary", True)
    ]
    assert await store.list(archived=True) == before
    assert await fsck(store) == []


async def test_one_broken_summary_does_not_hide_the_list(store: SqliteStore, path: Path):
    await store.append(S, 0, [created(title="mine"), finished("c1")])
    meddle(path, "UPDATE sessions SET summary = X'FF'")

    with pytest.raises(DamagedList, match="has no readable summary") as raised:
        await store.list()
    assert [(one.id, one.title, one.last_seq) for one in raised.value.sessions] == [(S, "mine", 2)]
    await store.append(S, 2, [RunEnded(RUN, "completed")])
    assert [(summary.title, summary.last_seq) for summary in await store.list()] == [("mine", 3)]


async def test_a_summary_without_events_is_removed(store: SqliteStore, path: Path):
    await store.append(S, 0, [created()])
    meddle(path, "DELETE FROM records")

    with pytest.raises(DamagedList, match="has no readable last event"):
        await store.list()
    assert [flaw.kind for flaw in await fsck(store, repair=True)] == ["orphan_summary"]
    assert await store.list() == []
    assert await store.ids() == []


async def test_a_deletion_overwrites_what_was_said(store: SqliteStore, path: Path):
    await store.append(S, 0, [created(), said("the secret word"), *[said("x" * 5000)] * 30])
    await store.delete(S)
    await store.aclose()

    assert b"the secret word" not in path.read_bytes()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


async def test_full_sync_appends_as_well(path: Path):
    store = SqliteStore(path, CountingClock(), sync="full")

    await store.append(S, 0, [created(), said("safe")])

    assert (await verify(store, S)).records == 2
    await store.aclose()
