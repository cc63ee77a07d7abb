"""The file: created late, set aside if unusable, never half-written."""

import os
from pathlib import Path

import apsw
import pytest

from bridle.core.errors import StoreError
from bridle.memory.database import APPLICATION_ID, Database, empty, rows_of
from tests.memory.stage import Clock

ADD = "INSERT INTO projects (root) VALUES ('/p')"


class Place:
    """A database, and its log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: list[str] = []
        self.database = Database(path, Clock(), self.told.append)

    def add(self) -> None:
        self.database.write(lambda connection: connection.execute(ADD))

    def roots(self) -> list[str]:
        return [row[0] for row in self.database.read(lambda c: rows_of(c, "SELECT root FROM projects"))]


@pytest.fixture
def place(tmp_path: Path):
    made = Place(tmp_path / "memory" / "memory.db")
    yield made
    made.database.close()


def filled(path: Path) -> None:
    place = Place(path)
    place.add()
    place.database.close()


def test_nothing_is_made_before_it_is_needed(place: Place):
    assert not place.path.parent.exists()

    place.add()

    assert place.path.stat().st_mode & 0o777 == 0o600
    assert place.path.parent.stat().st_mode & 0o777 == 0o700


def test_it_is_opened_again_as_it_was(place: Place):
    place.add()
    place.database.close()

    assert place.roots() == ["/p"]
    assert place.told == []


def test_work_that_fails_leaves_nothing(place: Place):
    def work(connection: apsw.Connection) -> None:
        connection.execute(ADD)
        raise KeyError

    with pytest.raises(KeyError):
        place.database.write(work)

    assert place.roots() == []


def meddle(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda path: path.write_bytes(b"hello" * 100), "it is not a SQLite database"),
        (lambda path: path.write_bytes(b"SQLite format 3\0"), "it is not a SQLite database"),
        (lambda path: meddle(path, "PRAGMA application_id = 7"), "it is a SQLite database of something else"),
        (
            lambda path: meddle(path, "PRAGMA user_version = 99"),
            "it was written by another version of Bridle",
        ),
        (lambda path: os.truncate(path, path.stat().st_size // 2), "it was cut off"),
    ],
)
def test_a_file_that_cannot_be_used_is_put_aside(place: Place, spoil, why: str):
    filled(place.path)
    spoil(place.path)
    spoiled = place.path.read_bytes()

    place.add()

    aside = place.path.with_name("memory.db.damaged-1700000000000")
    assert place.told == [f"{place.path}: {why}; it was moved to {aside.name}, and memory is rebuilt"]
    assert aside.read_bytes() == spoiled
    assert place.roots() == ["/p"]


def test_damage_that_shows_later_puts_it_aside_too(place: Place):
    filled(place.path)
    data = bytearray(place.path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    place.path.write_bytes(data)

    place.add()

    assert [line.partition(": ")[0] for line in place.told] == [str(place.path)]
    assert place.roots() == ["/p"]


def test_what_another_process_has_put_in_its_place_is_used(place: Place, tmp_path: Path):
    place.add()
    filled(tmp_path / "other.db")
    os.replace(tmp_path / "other.db", place.path)
    place.database.write(lambda connection: connection.execute("UPDATE projects SET root = '/q'"))

    assert Place(place.path).roots() == ["/q"]


def test_a_file_that_cannot_be_opened_is_an_error(place: Place):
    place.path.mkdir(parents=True)

    with pytest.raises(StoreError, match=r"memory\.db"):
        place.add()


def test_emptying_keeps_what_is_to_stay_forgotten(place: Place):
    def fill(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO sessions VALUES ('a', 1, 9, 'h', 1, 1, 4), ('b', 1, 9, 'h', 1, 1, 0)")
        connection.execute("INSERT INTO passages VALUES (1, 1, 'a', 5, 0, 1, 'user', 1, 'words')")

    place.database.write(fill)
    place.database.write(empty)

    look = place.database.read
    assert look(lambda c: rows_of(c, "SELECT * FROM sessions")) == [("a", 0, 0, "", 0, 0, 4)]
    assert look(lambda c: rows_of(c, "SELECT count(*) FROM passages")) == [(0,)]
    assert look(lambda c: rows_of(c, "SELECT rowid FROM words('words')")) == []
    assert look(lambda c: c.pragma("application_id")) == APPLICATION_ID


def test_words_vectors_and_the_queue_follow_the_passages(place: Place):
    def add(connection: apsw.Connection) -> None:
        connection.execute(ADD)
        connection.execute("INSERT INTO passages VALUES (1, 1, 'a', 5, 0, 1, 'user', 1, 'Running dogs')")
        connection.execute("INSERT INTO vectors VALUES (1, 1, x'00')")

    found = "SELECT rowid FROM words('run dog')"
    place.database.write(add)
    assert place.database.read(lambda c: rows_of(c, found)) == [(1,)]
    assert place.database.read(lambda c: rows_of(c, "SELECT * FROM pending")) == [(1, 1)]

    place.database.write(lambda connection: connection.execute("DELETE FROM passages"))

    assert place.database.read(lambda c: rows_of(c, found)) == []
    assert place.database.read(lambda c: rows_of(c, "SELECT * FROM pending")) == []
    assert place.database.read(lambda c: rows_of(c, "SELECT * FROM vectors")) == []
    assert place.database.read(lambda c: rows_of(c, "SELECT version FROM projects")) == [(1,)]


def test_a_file_that_another_process_is_creating_is_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch):
    filled(place.path)
    whole = place.path.read_bytes()
    place.path.write_bytes(whole[: len(whole) // 2])  # as while its first pages are written
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB
    writer = apsw.VFSFile("", str(place.path), [flags, 0])
    for level in (apsw.SQLITE_LOCK_SHARED, apsw.SQLITE_LOCK_RESERVED, apsw.SQLITE_LOCK_EXCLUSIVE):
        writer.xLock(level)

    def finish(_seconds: float) -> None:
        writer.xWrite(whole, 0)
        writer.xUnlock(apsw.SQLITE_LOCK_NONE)

    monkeypatch.setattr("bridle.memory.database.time.sleep", finish)  # it waits, and the writer continues
    try:
        assert place.database.read(lambda c: rows_of(c, "SELECT key FROM meta")) is not None
    finally:
        writer.xClose()
    assert place.told == []
