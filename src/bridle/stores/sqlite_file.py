"""One SQLite file: opened on first use, rejected if it is not Bridle's, locks awaited without blocking."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import apsw
from msgspec import Struct

from bridle.core.errors import StoreCorrupt, StoreError, StoreFull
from bridle.stores.lock_retry import retry_while_locked
from bridle.stores.record_lines import FREE_SPACE, from_os_error, gone_error

T = TypeVar("T")

APPLICATION_ID = int.from_bytes(b"Brdl", "big")

_HEADER_BYTES = 100

RESTORE = "run bridle session fsck for details; restore the file from a backup, or move it away"

_FAILURES: tuple[tuple[type[apsw.Error], type[StoreError], str], ...] = (
    (apsw.NotADBError, StoreCorrupt, "it is not a SQLite database"),
    (apsw.CorruptError, StoreCorrupt, "it is damaged"),
    (apsw.SQLError, StoreCorrupt, "its tables are not as expected"),
    (apsw.ReadOnlyError, StoreError, "it cannot be written"),
    (apsw.CantOpenError, StoreError, "it cannot be opened"),
)


class Schema(Struct, frozen=True):
    """The tables of a new file, and the version number that changes with them."""

    version: int
    statements: str


class Database:
    """A file in WAL mode, created by the first write and opened by the first call."""

    def __init__(
        self, path: Path, schema: Schema, *, sync: Literal["normal", "full"], patience_s: float
    ) -> None:
        self._path = path
        self._schema = schema
        self._sync = sync
        self._patience_s = patience_s
        self._connection: apsw.Connection | None = None
        self._version = -1
        self._name = os.fspath(path)
        self._identity: tuple[int, int] | None = None
        self.is_ours = False
        """Valid inside `write`: True if only this object has changed the file since its last `write`."""

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run `work` in one transaction, as soon as no other process is in one.

        Raises StoreFull, StoreCorrupt or StoreError, after rolling back. A file that was deleted or replaced
        in the meantime is also an error, because what is written to it is lost.
        """
        return await self._patiently(partial(self._write, work))

    def _write(self, work: Callable[[apsw.Connection], T]) -> T:
        connection = self._connection or self._make()
        connection.execute("BEGIN IMMEDIATE")
        try:
            self.is_ours = connection.data_version() == self._version
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise
        # `data_version` counts the changes that this connection made or noticed, and it notices them when
        # it begins a transaction, so a commit by others after ours cannot go unnoticed.
        self._version = connection.data_version()
        if _identity(self._name) != self._identity:
            self.close()
            raise gone_error(self._path)
        return result

    async def rows(self, statement: str, *bindings: Any) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query; none if there is no file."""
        return await self._patiently(partial(self._rows, statement, bindings))

    def _rows(self, statement: str, bindings: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        try:
            connection = self._connection or self._open()
        except apsw.IOError as error:
            if not _lacks_space(error) or self._has_wal():
                raise
            connection = self._look_at()
            try:
                return connection.execute(statement, bindings).fetchall()
            finally:
                connection.close()
        return connection.execute(statement, bindings).fetchall() if connection else ()

    async def readable_rows(self, statement: str, *bindings: Any) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query up to the first that cannot be read."""
        return await self._patiently(partial(self._readable_rows, statement, bindings))

    def _readable_rows(self, statement: str, bindings: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        connection = self._connection or self._open()
        rows: list[tuple[Any, ...]] = []
        with suppress(apsw.CorruptError):
            for row in connection.execute(statement, bindings) if connection else ():
                rows.append(row)  # noqa: PERF402  what was read before the error is kept
        return rows

    def _look_at(self) -> apsw.Connection:
        """Open the file without the index that WAL mode needs and that does not fit on a full disk.

        Do not keep this connection: it sees neither a WAL nor changes by others, since both need that index.
        """
        uri = f"{self._path.absolute().as_uri()}?immutable=1"
        return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)

    def _has_wal(self) -> bool:
        wal = self._path.with_name(f"{self._path.name}-wal")
        return wal.exists() and wal.stat().st_size > 0

    def checkpoint(self) -> None:
        """Write the WAL back into the file, except for parts that other processes still use."""
        if self._connection is not None:
            with suppress(apsw.Error):  # others still read the WAL, or the disk is full: done later
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> None:
        """Checkpoint and close; a later call opens the file again."""
        if self._connection is not None:
            self.checkpoint()
            with suppress(apsw.Error):  # what is in the WAL is safe and is written back later
                self._connection.close()
            self._connection = None
            self._version = -1

    async def _patiently(self, attempt: Callable[[], T]) -> T:
        try:
            return await retry_while_locked(attempt, apsw.BusyError, str(self._path), self._patience_s)
        except apsw.Error as error:
            raise self._translated(error) from error
        except OSError as error:
            raise from_os_error(self._path, error) from error

    def _translated(self, error: apsw.Error) -> StoreError:
        if _lacks_space(error):
            return StoreFull(f"{self._path}: no space left ({error})", hint=FREE_SPACE)
        for foreign, ours, text in _FAILURES:
            if isinstance(error, foreign):
                hint = RESTORE if ours is StoreCorrupt else ""
                return ours(f"{self._path}: {text} ({error})", hint=hint)
        return StoreError(f"{self._path}: {error}")

    def _make(self) -> apsw.Connection:
        """Open the file, or create it readable only by its owner."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        connection = self._open(make=True)
        assert connection is not None
        return connection

    def _open(self, *, make: bool = False) -> apsw.Connection | None:
        """Open the file; without `make`, return None for a missing or empty file and leave it unchanged."""
        try:
            is_empty = self._path.stat().st_size == 0
        except FileNotFoundError:
            return None
        if not is_empty:
            self._refuse_foreign()
        elif not make:
            return None
        connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._identity = _identity(self._name)
        return connection

    def _refuse_foreign(self) -> None:
        """Check the header before anything can be written; raises StoreCorrupt or StoreError.

        Reads through SQLite's file layer, because closing a descriptor of our own would drop the locks that
        other connections of this process hold. Does not use a connection, because that fails on a file whose
        checkpoint was interrupted, and it would recover or checkpoint the WAL of a foreign file.
        """
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB
        file = apsw.VFSFile("", str(self._path.absolute()), [flags, 0])
        try:
            header = file.xRead(_HEADER_BYTES, 0)
        finally:
            file.xClose()
        if not header.startswith(b"SQLite format 3\0"):
            raise self._foreign("it is not a SQLite database")
        if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
            raise self._foreign("it is a SQLite database, but not one of Bridle's")
        self._refuse_newer(int.from_bytes(header[60:64], "big"))

    def _foreign(self, why: str) -> StoreCorrupt:
        return StoreCorrupt(
            f"{self._path}: {why}", hint="move it away, or choose another location for the store"
        )

    def _refuse_newer(self, version: int) -> None:
        if version > self._schema.version:
            raise StoreError(
                f"{self._path}: it was written by a newer Bridle "
                f"(its schema is {version}, the newest known is {self._schema.version})",
                hint="upgrade Bridle",
            )

    def _prepare(self, connection: apsw.Connection) -> None:
        """Create the tables if there are none, then set the modes.

        The tables come before WAL mode, so that the header that marks the file as Bridle's is in the file.
        """
        if connection.pragma("application_id") != APPLICATION_ID:
            self._create(connection)
        self._refuse_newer(connection.pragma("user_version"))  # the WAL alone may hold a newer one
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", self._sync)

    def _create(self, connection: apsw.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.pragma("application_id") != APPLICATION_ID:  # else another process was faster
                connection.execute(self._schema.statements)
                connection.pragma("application_id", APPLICATION_ID)
                connection.pragma("user_version", self._schema.version)
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise


def _identity(path: str) -> tuple[int, int] | None:
    """Return the device and inode that a path names now; None if it names no file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _lacks_space(error: apsw.Error) -> bool:
    extended = getattr(error, "extendedresult", None)  # missing in apsw's type stubs
    return isinstance(error, apsw.FullError) or extended == apsw.SQLITE_IOERR_SHMSIZE


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:  # SQLite has done it already after some errors
        connection.execute("ROLLBACK")
