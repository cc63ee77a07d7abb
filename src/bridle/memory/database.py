"""The database file of memory: opened on first use, set aside if damaged, because it can be rebuilt.

```
meta        key, value                              the calibration of each embedder
projects    id, root, embedder, dims, version       the embedder of its vectors; the version counts changes
                                                    other than one more vector at the end
sessions    id, project, seq, hash, turns, …        how far each session is indexed
passages    id, project, session, seq, part, …      what was said; `words` is the full-text index
pending     project, id                             passages that have no vector yet
vectors     id, project, vector                     float16
indexes     project, file, …                        index files over many vectors
```

Every method blocks; one thread owns the file.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from bridle.core.errors import StoreError, StoreFull
from bridle.core.ports import Clock

T = TypeVar("T")

APPLICATION_ID = int.from_bytes(b"BrdM", "big")
SCHEMA_VERSION = 1
CACHE_PAGES = 4096  # 16 MB: the vectors that a search reads are spread over the file
BUSY_MS = 3_000
BUSY_ATTEMPTS = 10
BUSY_PAUSE_S = 0.02  # times the number of attempts
TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2")
_HEADER_BYTES = 100

_SCHEMA = f"""
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE projects (
        id INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE, embedder TEXT NOT NULL DEFAULT '',
        dims INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, project INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL,
        turns INTEGER NOT NULL, recent INTEGER NOT NULL, forgotten INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL, session TEXT NOT NULL,
        seq INTEGER NOT NULL, part INTEGER NOT NULL, turn INTEGER NOT NULL, role TEXT NOT NULL,
        at INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (session, seq, part)
    ) STRICT;
    CREATE TABLE pending (project INTEGER, id INTEGER, PRIMARY KEY (project, id)) STRICT, WITHOUT ROWID;
    CREATE TABLE vectors (id INTEGER PRIMARY KEY, project INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;
    CREATE INDEX vectors_of_project ON vectors (project, id);
    CREATE TABLE indexes (
        project INTEGER PRIMARY KEY, file TEXT NOT NULL, kind TEXT NOT NULL, covered INTEGER NOT NULL,
        count INTEGER NOT NULL, expansion INTEGER NOT NULL, size INTEGER NOT NULL, checksum INTEGER NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE words USING fts5(
        text, content='passages', content_rowid='id', tokenize='{" ".join(TOKENIZER)}'
    );
    INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
    CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
        INSERT INTO words (rowid, text) VALUES (new.id, new.text);
        INSERT INTO pending VALUES (new.project, new.id);
    END;
    CREATE TRIGGER passage_gone AFTER DELETE ON passages BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.id, old.text);
        DELETE FROM pending WHERE project = old.project AND id = old.id;
        DELETE FROM vectors WHERE id = old.id;
        UPDATE projects SET version = version + 1 WHERE id = old.project;
    END;
"""
_TABLES = "vocabulary words indexes vectors pending passages sessions projects meta".split()


class Database:
    """A SQLite file, created on the first call."""

    def __init__(self, path: Path, clock: Clock, tell: Callable[[str], None]) -> None:
        """Create without opening; `tell` is called with a message when a file had to be set aside."""
        self.path = path
        self._clock = clock
        self._tell = tell
        self._connection: apsw.Connection | None = None
        self._inode = 0

    def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work` in one transaction; raises StoreFull or StoreError, and then nothing is changed.

        If the file turns out to be damaged, `work` runs again in a new, empty one.
        """
        return self._run(lambda connection: _in_transaction(connection, work))

    def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work`, which only reads; raises like `write`."""
        return self._run(work)

    def close(self) -> None:
        """Checkpoint the WAL and close; a later call opens the file again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(apsw.Error):
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.close()

    def checkpoint(self) -> None:
        """Checkpoint the WAL, so that deleted data is gone from it too."""
        if self._connection is not None:
            with suppress(apsw.Error):  # another process reads it; a later checkpoint succeeds
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def free_cache(self) -> None:
        """Free the page cache; later work reads the pages again."""
        if self._connection is not None:
            with suppress(apsw.Error):
                self._connection.release_memory()

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            try:
                return self._patiently(work)
            except (apsw.CorruptError, apsw.NotADBError) as error:
                self._set_aside(str(error))
                return self._patiently(work)
        except apsw.FullError as error:
            raise StoreFull(f"{self.path}: no space left", hint="free some space") from error
        except apsw.BusyError as error:
            raise StoreError(f"{self.path}: another process has been using it for too long") from error
        except (apsw.Error, OSError) as error:
            raise StoreError(f"{self.path}: {error}") from error

    def _patiently(self, work: Callable[[apsw.Connection], T]) -> T:
        """Retry when two processes open the file at once: SQLite does not wait then."""
        for attempt in range(1, BUSY_ATTEMPTS):
            with suppress(apsw.BusyError):
                return work(self._current())
            time.sleep(BUSY_PAUSE_S * attempt)
        return work(self._current())

    def _current(self) -> apsw.Connection:
        """Return the open connection; if another process set the file aside, open its replacement."""
        if self._connection is not None and not self._is_ours():
            self._connection.close()
            self._connection = None
        return self._connection or self._open()

    def _is_ours(self) -> bool:
        try:
            return self.path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def _open(self) -> apsw.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o600))
        self._inode = self.path.stat().st_ino
        if why := self._fault():
            self._set_aside(why)
            return self._open()
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MS)
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _fault(self) -> str:
        """Return what is wrong with the file, by its header and size; empty if it seems fine."""
        header, size = _read_header(self.path)
        if not size:
            return ""
        if not header.startswith(b"SQLite format 3\0") or len(header) < _HEADER_BYTES:
            return "it is not a SQLite database"
        if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
            return "it is a SQLite database of something else"
        if int.from_bytes(header[60:64], "big") != SCHEMA_VERSION:
            return "it was written by another version of Bridle"
        page = int.from_bytes(header[16:18], "big")
        whole = int.from_bytes(header[28:32], "big") * (65536 if page == 1 else page)
        # If there is a WAL, a short file may just be in the middle of a checkpoint.
        return "it was cut off" if size < whole and not self._has_wal() else ""

    def _has_wal(self) -> bool:
        wal = self.path.with_name(f"{self.path.name}-wal")
        return wal.exists() and wal.stat().st_size > 0

    def _set_aside(self, why: str) -> None:
        """Rename an unusable file and its WAL files; never delete it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if not self._is_ours():
            return  # another process has already done it
        damaged = self.path.with_name(f"{self.path.name}.damaged-{self._clock.now_ms()}")
        for ending in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                os.replace(f"{self.path}{ending}", f"{damaged}{ending}")
        self._tell(f"{self.path}: {why}; it was moved to {damaged.name}, and memory is rebuilt")


def _read_header(path: Path) -> tuple[bytes, int]:
    """Return the header and the size, read while no process writes the file; raises BusyError.

    Read through SQLite: closing our own descriptor would drop this process's locks.
    """
    file = apsw.VFSFile("", str(path.absolute()), [apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        _lock_shared(file)
        try:
            size = file.xFileSize()
            return (file.xRead(_HEADER_BYTES, 0) if size else b""), size
        finally:
            file.xUnlock(apsw.SQLITE_LOCK_NONE)
    finally:
        file.xClose()


def _lock_shared(file: apsw.VFSFile) -> None:
    """Wait until no process writes; one that creates the file has a header only at its end."""
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            return file.xLock(apsw.SQLITE_LOCK_SHARED)
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
        time.sleep(BUSY_PAUSE_S)


def _prepare(connection: apsw.Connection) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        _in_transaction(connection, _create)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.pragma("secure_delete", "on")
    connection.pragma("cache_size", CACHE_PAGES)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def _create(connection: apsw.Connection) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:  # otherwise another process created it first
        connection.execute(_SCHEMA)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", SCHEMA_VERSION)


def rows_of(connection: apsw.Connection, query: str, *bindings: Any) -> list[Any]:
    """Return the rows of a query, each a tuple."""
    return connection.execute(query, bindings).fetchall()


def empty(connection: apsw.Connection) -> None:
    """Drop everything inside a transaction, except which sessions are to stay forgotten."""
    forgotten = connection.execute("SELECT id, forgotten FROM sessions WHERE forgotten > 0").fetchall()
    for table in _TABLES:
        connection.execute(f"DROP TABLE {table}")
    connection.execute(_SCHEMA)
    for session, seq in forgotten:
        connection.execute("INSERT INTO sessions VALUES (?, 0, 0, '', 0, 0, ?)", (session, seq))


def _in_transaction(connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # after some errors SQLite has already rolled back
            connection.execute("ROLLBACK")
        raise
    return result
