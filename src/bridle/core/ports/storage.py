"""The ports for storage: the journal, blobs, file revisions, memory and claims."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.protocol import Event, Record
from bridle.core.revision import FileChange, FileState
from bridle.core.summary import SessionSummary


class Store(Protocol):
    """An append-only journal of events per session."""

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        """Append events after `expected_seq` (0 for a new session) in one durable, all-or-nothing step.

        Raises SessionConflict if the session does not end at `expected_seq`, StoreFull if the device is
        full, StoreError for other failures.
        """
        ...

    async def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """Return records with `after` < seq < `before` in order: at most `limit`, with `newest` the last.

        An unknown session has no records. Raises StoreCorrupt for a line that cannot be decoded.
        """
        ...

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session, newest first; archived ones only with `archived`."""
        ...

    async def delete(self, session: SessionId) -> None:
        """Delete a session permanently; raises SessionNotFound."""
        ...

    async def aclose(self) -> None:
        """Flush and release the journal."""
        ...


class DatedStore(Store, Protocol):
    """A journal that can import events with their original dates."""

    async def append(
        self,
        session: SessionId,
        expected_seq: int,
        events: Sequence[Event],
        *,
        dates: Sequence[int] = (),
    ) -> list[Record]:
        """Append events like any store; `dates` are their times, in milliseconds since 1970.

        Without `dates` the time is now; no event is dated later than now.
        """
        ...


class Blobs(Protocol):
    """Bytes stored under the SHA-256 of their content; every method blocks and is safe in any thread."""

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest; raises StoreFull or StoreError."""
        ...

    def get(self, digest: str) -> bytes:
        """Return stored bytes; raises StoreError if they are missing or damaged."""
        ...


class FileTracker(Protocol):
    """Track the file changes of one session; every method blocks and is safe in any thread."""

    def keep(self, path: str) -> None:
        """Save the content of an absolute path durably before it is changed; quick if already saved.

        A folder is saved with all its contents, because it may be moved; a path that ends in `/.` means the
        folder alone. Raises StoreError if it cannot be saved: then it must not be changed.
        """
        ...

    def collect(self, *, is_over: bool = False) -> tuple[FileChange, ...]:
        """Return what has changed since the last call, among all saved paths.

        `is_over` means that nothing of the session runs any more: later changes are not the session's.
        A path may occur twice, in order. Until `confirm`, the next call, on this keeper or a new one of the
        session, returns the same changes again before new ones.
        """
        ...

    def confirm(self) -> None:
        """Confirm that all changes returned by `collect` are recorded."""
        ...

    def look(self, paths: Sequence[str]) -> dict[str, FileState | None]:
        """Return the current states of these paths, which are written as in change records."""
        ...

    def restore(self, targets: Mapping[str, FileState | None]) -> tuple[str, ...]:
        """Restore paths to these states, saving the current content first; return a message per failure."""
        ...


class Revisions(Protocol):
    """Earlier file contents of every session."""

    def keeper(self, session: SessionId, cwd: str) -> FileTracker:
        """Return the keeper of a session, the same one each time."""
        ...

    def forget(self, session: SessionId) -> None:
        """Delete the saved contents of a deleted session."""
        ...


class MemoryHit(Struct, frozen=True, omit_defaults=True):
    """A passage of an earlier conversation that matches a query."""

    text: str
    score: float
    """From 0 to 1."""
    session: SessionId
    seq: int
    turn: int = 0
    role: str = ""
    at: int = 0
    """Time of the message, in milliseconds since 1970."""


class Memory(Protocol):
    """Semantic search over the sessions of a project."""

    async def search(
        self, query: str, *, cwd: str, limit: int = 5, session: SessionId | None = None
    ) -> list[MemoryHit]:
        """Return the passages of this project that match best, best first; raises BridleError.

        Messages of `session`, the caller, since its run or its last compaction began are left out.
        """
        ...

    def note(self, session: SessionId, cwd: str) -> None:
        """Schedule a session that has grown for indexing in the background."""
        ...

    async def forget(self, session: SessionId) -> None:
        """Remove a session from the index."""
        ...

    async def aclose(self) -> None:
        """Stop indexing; the rest is indexed another time."""
        ...


class Claims(Protocol):
    """Locks that stop two processes from running one session at once; a claim ends with its process."""

    async def claim(self, session: SessionId) -> bool:
        """Claim a session for this process; False if it is claimed, here or elsewhere. Raises StoreError."""
        ...

    async def release(self, session: SessionId) -> None:
        """Release a claim; do nothing if this process does not hold it."""
        ...

    async def is_taken(self, session: SessionId) -> bool:
        """Return True if this or another process has claimed a session."""
        ...
