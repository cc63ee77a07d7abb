"""One SQLite file: opened late, refused when it is not ours, its locks awaited without blocking."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import apsw
from msgspec import Struct

from bridle.core.errors import StoreCorrupt, StoreError, StoreFull
from bridle.stores.contention import when_free
from bridle.stores.lines import FREE_SPACE, from_os_error, gone

T = TypeVar("T")

APPLICATION_ID = int.from_bytes(b"Brdl", "big")

_HEADER_BYTES = 100

RESTORE = "bridle session fsck says what is wrong; restore the file from a backup, or move it away"

_FAILURES: tuple[tuple[type[apsw.Error], type[StoreError], str], ...] = (
    (apsw.NotADBError, StoreCorrupt, "it is not a SQLite database"),
    (apsw.CorruptError, StoreCorrupt, "it is damaged"),
    (apsw.SQLError, StoreCorrupt, "its tables are not as they should be"),
    (apsw.ReadOnlyError, StoreError, "it cannot be written"),
    (apsw.CantOpenError, StoreError, "it cannot be opened"),
)


class Schema(Struct, frozen=True):
    """The tables a new file gets, and the number that changes with them."""

    version: int
    statements: str


class Database:
    """A file in WAL mode that is made by the first write and opened by the first call."""

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
        """Inside of `write`: nobody has changed the file since the last `write` of this object."""

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do work in one transaction, as soon as no other process is in one.

        Raises StoreFull, StoreCorrupt or StoreError; the transaction is then undone. A file that was
        deleted or replaced meanwhile is an error too: what is written to it is lost.
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
        # It counts the changes that this connection made or noticed, and it notices when it begins a
        # transaction: nothing that others commit after our commit can hide in this number.
        self._version = connection.data_version()
        if _identity(self._name) != self._identity:
            self.close()
            raise gone(self._path)
        return result

    async def rows(self, statement: str, *bindings: Any) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query; none when there is no file."""
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
        """Open without the index file that WAL mode needs and that a full disk has no room for.

        Not to be kept: it sees neither a WAL nor a change by others, which both begin with that index.
        """
        uri = f"{self._path.absolute().as_uri()}?immutable=1"
        return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)

    def _has_wal(self) -> bool:
        wal = self._path.with_name(f"{self._path.name}-wal")
        return wal.exists() and wal.stat().st_size > 0

    def checkpoint(self) -> None:
        """Write the WAL back into the file, as far as nobody else needs it."""
        if self._connection is not None:
            with suppress(apsw.Error):  # others still read the WAL, or the disk is full: a later one does it
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> None:
        """Checkpoint and close; a later call opens the file again."""
        if self._connection is not None:
            self.checkpoint()
            with suppress(apsw.Error):  # what is in the WAL is safe there, and written back by a later one
                self._connection.close()
            self._connection = None
            self._version = -1

    async def _patiently(self, attempt: Callable[[], T]) -> T:
        try:
            return await when_free(attempt, apsw.BusyError, str(self._path), self._patience_s)
        except apsw.Error as error:
            raise self._translated(error) from error
        except OSError as error:
            raise from_os_error(self._path, error) from error

    def _translated(self, error: apsw.Error) -> StoreError:
        if _lacks_space(error):
            return StoreFull(f"{self._path}: no space is left for it ({error})", hint=FREE_SPACE)
        for foreign, ours, text in _FAILURES:
            if isinstance(error, foreign):
                hint = RESTORE if ours is StoreCorrupt else ""
                return ours(f"{self._path}: {text} ({error})", hint=hint)
        return StoreError(f"{self._path}: {error}")

    def _make(self) -> apsw.Connection:
        """Open the file, or make it for the owner's eyes only."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        connection = self._open(make=True)
        assert connection is not None
        return connection

    def _open(self, *, make: bool = False) -> apsw.Connection | None:
        """Open the file; without `make` a missing or empty one is left as it is."""
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
        """Look at the header before anything can be written; raises StoreCorrupt or StoreError.

        Read through SQLite's file layer: closing a descriptor of our own would drop the locks that
        other connections of this process hold. But not through a connection: that fails on a file
        whose checkpoint was cut off, and recovers or checkpoints the WAL of a foreign one.
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
            f"{self._path}: {why}", hint="move it away, or choose another place for the store"
        )

    def _refuse_newer(self, version: int) -> None:
        if version > self._schema.version:
            raise StoreError(
                f"{self._path}: it was written by a newer Bridle "
                f"(its schema is {version}, the newest known is {self._schema.version})",
                hint="upgrade Bridle",
            )

    def _prepare(self, connection: apsw.Connection) -> None:
        """Make the tables if there are none, then switch the modes.

        The tables come before WAL mode: so the header that marks the file as ours is in the file itself.
        """
        if connection.pragma("application_id") != APPLICATION_ID:
            self._create(connection)
        self._refuse_newer(connection.pragma("user_version"))  # a newer one may stand in the WAL only
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", self._sync)

    def _create(self, connection: apsw.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.pragma("application_id") != APPLICATION_ID:  # else another process was quicker
                connection.execute(self._schema.statements)
                connection.pragma("application_id", APPLICATION_ID)
                connection.pragma("user_version", self._schema.version)
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise


def _identity(path: str) -> tuple[int, int] | None:
    """Return which file a path names now; None if it names none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _lacks_space(error: apsw.Error) -> bool:
    extended = getattr(error, "extendedresult", None)  # apsw's type stubs do not know it
    return isinstance(error, apsw.FullError) or extended == apsw.SQLITE_IOERR_SHMSIZE


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:  # after some errors SQLite has done it already
        connection.execute("ROLLBACK")
