"""What is kept: the journal, blobs, earlier contents of files, what can be recalled."""

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
        """Add events after `expected_seq` (0 for a new session) in one durable, all-or-nothing step.

        Raises SessionConflict when the session does not end at `expected_seq`, StoreFull when the
        device is full, StoreError otherwise.
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
        """Return records with `after` < seq < `before` in order; at most `limit`, the newest ones if asked.

        An unknown session has no records. Raises StoreCorrupt for a line that cannot be decoded.
        """
        ...

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session, newest first; archived ones only if asked."""
        ...

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good; raises SessionNotFound."""
        ...

    async def aclose(self) -> None:
        """Flush and release the journal."""
        ...


class DatedStore(Store, Protocol):
    """A journal that takes in what was recorded elsewhere, and when."""

    async def append(
        self,
        session: SessionId,
        expected_seq: int,
        events: Sequence[Event],
        *,
        dates: Sequence[int] = (),
    ) -> list[Record]:
        """Add events as any store does; `dates`, in milliseconds since 1970, say when each happened.

        Without them that is now; nothing is dated later than that.
        """
        ...


class Blobs(Protocol):
    """Bytes kept under the SHA-256 of their content; every method blocks and is safe in any thread."""

    def put(self, data: bytes) -> str:
        """Keep bytes and return their digest; raises StoreFull or StoreError."""
        ...

    def get(self, digest: str) -> bytes:
        """Return kept bytes; raises StoreError when they are missing or damaged."""
        ...


class Keeper(Protocol):
    """Watches over the files of one session; every method blocks and is safe in any thread."""

    def keep(self, path: str) -> None:
        """Keep what lies at an absolute path, durably, before it is changed; quick if it was kept already.

        A folder is kept with all that is in it, as it may be moved; a path that ends in `/.` is a folder
        alone. Raises StoreError when it cannot be kept: then it must not be changed.
        """
        ...

    def collect(self, *, is_over: bool = False) -> tuple[FileChange, ...]:
        """Return what has changed since the last time, of all that was kept.

        `is_over` says that nothing of the session runs any more: what is changed from now on is not its own.
        A path may come twice, in order. Until `confirm` the next one, here or of a new keeper of the session,
        returns the same again before what is new.
        """
        ...

    def confirm(self) -> None:
        """Say that all that `collect` has returned is recorded."""
        ...

    def look(self, paths: Sequence[str]) -> dict[str, FileState | None]:
        """Return what lies at these paths now, as change records name them."""
        ...

    def restore(self, targets: Mapping[str, FileState | None]) -> tuple[str, ...]:
        """Bring paths back to these states, keeping what is there now; return what could not be, in words."""
        ...


class Revisions(Protocol):
    """Remembers earlier file contents for every session."""

    def keeper(self, session: SessionId, cwd: str) -> Keeper:
        """Return the keeper of a session, the same one each time."""
        ...

    def forget(self, session: SessionId) -> None:
        """Drop what was kept aside for a session that is deleted."""
        ...


class Recalled(Struct, frozen=True, omit_defaults=True):
    """A passage of the past that fits a question."""

    text: str
    score: float
    """From 0 to 1."""
    session: SessionId
    seq: int
    turn: int = 0
    role: str = ""
    at: int = 0
    """When it was said, in milliseconds since 1970."""


class Memory(Protocol):
    """Semantic recall over what was said in the sessions of a project."""

    async def search(
        self, query: str, *, cwd: str, limit: int = 5, session: SessionId | None = None
    ) -> list[Recalled]:
        """Return the passages of this project that fit best, the best first; raises BridleError.

        What `session`, which asks, has said since its run or its last compaction began is left out.
        """
        ...

    def note(self, session: SessionId, cwd: str) -> None:
        """Say that a session has grown: it is taken in soon, in the background."""
        ...

    async def forget(self, session: SessionId) -> None:
        """Drop all that is known of a session."""
        ...

    async def aclose(self) -> None:
        """Stop taking in; what is left is taken in another time."""
        ...


class Claims(Protocol):
    """Keeps two processes from running one session at once; a claim dies with its process."""

    async def claim(self, session: SessionId) -> bool:
        """Take a session for this process; False when it is taken, here or elsewhere; raises StoreError."""
        ...

    async def release(self, session: SessionId) -> None:
        """Give a claimed session back; one that is not held is left alone."""
        ...

    async def is_taken(self, session: SessionId) -> bool:
        """Tell whether somebody has a session, this process or another."""
        ...
