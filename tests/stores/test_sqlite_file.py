"""Which files are opened, which are refused, and which stay untouched."""

import os
from pathlib import Path

import apsw
import pytest

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.core.ids import SessionId
from bridle.stores.integrity import fsck, verify
from bridle.stores.sqlite import SqliteStore
from tests.stores.sample import CountingClock, S, created, finished, said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "bridle.db"


def content(directory: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in directory.iterdir()}


async def assert_refused(path: Path, error: type[StoreError], match: str) -> None:
    """Every way in fails, and no byte of the directory changes."""
    before = content(path.parent)
    store = SqliteStore(path, CountingClock())
    for attempt in (store.list, store.ids, lambda: store.read(S), lambda: store.append(S, 0, [created()])):
        with pytest.raises(error, match=match):
            await attempt()
    await store.aclose()

    assert content(path.parent) == before


async def test_a_text_file_is_refused(tmp_path: Path):
    path = tmp_path / "notes.txt"
    for text in ("x", "my notes " * 1000):
        path.write_text(text)

        await assert_refused(path, StoreCorrupt, "it is not a SQLite database")


@pytest.mark.parametrize("mode", ["delete", "wal"])
async def test_a_foreign_database_is_refused(tmp_path: Path, mode: str):
    """Also when it has a WAL that opening would write back."""
    path = tmp_path / "browser.db"
    theirs = apsw.Connection(str(path))
    theirs.pragma("journal_mode", mode)
    theirs.execute("CREATE TABLE cookies (name); INSERT INTO cookies VALUES ('a')")
    files = content(tmp_path)
    theirs.close()
    for name, data in files.items():  # as after a crash: the WAL is still there
        (tmp_path / name).write_bytes(data)

    await assert_refused(path, StoreCorrupt, "not one of Bridle's")


async def test_a_newer_schema_is_refused(path: Path):
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created()])
    await store.aclose()
    newer = apsw.Connection(str(path))
    newer.pragma("user_version", 7)
    newer.close()

    await assert_refused(path, StoreError, r"written by a newer Bridle \(its schema is 7")


async def test_a_newer_schema_that_is_still_in_the_wal_is_refused(path: Path):
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created()])
    newer = apsw.Connection(str(path))
    newer.pragma("user_version", 7)

    with pytest.raises(StoreError, match="newer Bridle"):
        await SqliteStore(path, CountingClock()).list()
    newer.close()
    await store.aclose()


async def test_a_directory_is_refused(tmp_path: Path):
    store = SqliteStore(tmp_path, CountingClock())

    with pytest.raises(StoreError):
        await store.list()


async def test_reading_makes_no_file(path: Path):
    store = SqliteStore(path, CountingClock())

    assert await store.list() == []
    assert await store.read(S) == []
    assert not path.parent.exists()


async def test_an_empty_file_becomes_a_store(path: Path):
    path.parent.mkdir()
    path.touch()
    store = SqliteStore(path, CountingClock())

    assert await store.list() == []
    assert path.stat().st_size == 0
    await store.append(S, 0, [created()])
    assert [summary.id for summary in await store.list()] == [S]
    await store.aclose()


async def test_only_the_owner_can_read_the_files(path: Path):
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created()])

    assert path.parent.stat().st_mode & 0o777 == 0o700
    modes = {entry.name: entry.stat().st_mode & 0o777 for entry in path.parent.iterdir()}
    assert modes == dict.fromkeys(["bridle.db", "bridle.db-wal", "bridle.db-shm"], 0o600)
    await store.aclose()


async def test_closing_leaves_one_file_and_a_later_call_opens_it_again(path: Path):
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created()])
    await store.aclose()
    await store.aclose()

    assert [entry.name for entry in path.parent.iterdir()] == ["bridle.db"]
    await store.append(S, 1, [said("later")])
    assert (await verify(store, S)).records == 2
    await store.aclose()


async def test_looking_at_the_header_keeps_the_locks_of_other_connections(path: Path):
    """Closing a plain descriptor would drop them, and another process could then remove our WAL."""
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created()])
    before = locks()

    other = SqliteStore(path, CountingClock())
    await other.list()
    await other.aclose()

    assert before > 0
    assert locks() == before
    await store.aclose()


def locks() -> int:
    pid = f" {os.getpid()} "
    return sum(pid in line for line in Path("/proc/locks").read_text().splitlines())


async def test_a_checkpoint_that_was_cut_off_does_not_matter(path: Path):
    """The file's header may then speak of pages that only the WAL has."""
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created(), *[finished("c", "x" * 3000)] * 100])
    crashed = content(path.parent)
    await store.aclose()
    whole = path.read_bytes()
    for cut in (4096, 8192, len(whole) // 2, len(whole)):
        for name, data in crashed.items():
            (path.parent / name).write_bytes(data)
        path.write_bytes(whole[:cut])

        reopened = SqliteStore(path, CountingClock())
        assert (await verify(reopened, S)).records == 101
        assert await fsck(reopened) == []
        await reopened.aclose()


async def test_a_damaged_file_is_reported(path: Path):
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created(), *[finished("c", "x" * 3000)] * 100])
    await store.aclose()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))

    damaged = SqliteStore(path, CountingClock())
    with pytest.raises(StoreCorrupt, match="it is damaged"):
        await damaged.read(S)
    assert {flaw.kind for flaw in await fsck(damaged, repair=True)} == {"damaged_file"}
    await damaged.aclose()


@pytest.mark.parametrize("put_back", [False, True])
async def test_a_file_that_is_deleted_while_it_is_used_is_said(path: Path, put_back: bool):
    store = SqliteStore(path, CountingClock())
    await store.append(S, 0, [created()])
    whole = path.read_bytes()
    for file in path.parent.iterdir():
        file.unlink()
    if put_back:
        path.write_bytes(whole)

    with pytest.raises(StoreError, match=r"bridle\.db: it was deleted, moved or replaced while"):
        await store.append(S, 1, [said("lost")])
    other = SessionId("other")
    await store.append(other, 0, [created()])

    assert [summary.id for summary in await store.list()] == [other]
    await store.aclose()
