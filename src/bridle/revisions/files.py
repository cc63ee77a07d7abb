"""The keepers of all sessions, with their files in one folder."""

import time
from collections.abc import Callable, MutableMapping
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import Blobs
from bridle.revisions.keeper import FileKeeper
from bridle.revisions.pending import Pending
from bridle.revisions.sight import MAX_FILE_BYTES, Sight


class FileRevisions:
    """Remembers earlier file contents; `<folder>/<session>.pending` is what a crash leaves of a session."""

    def __init__(
        self,
        folder: Path | None,
        blobs: Blobs,
        max_file_bytes: int = MAX_FILE_BYTES,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Use a folder, which is made when something is kept; without one nothing outlives the process.

        Files above the limit are only described: they cannot be brought back.
        """
        self._folder = folder
        self._blobs = blobs
        self._sight = Sight(blobs, max_file_bytes, now_ns)
        self._lock = Lock()  # a session has one keeper
        # One that nobody uses has all it knows in its file, if there is one.
        self._keepers: MutableMapping[SessionId, FileKeeper] = {} if folder is None else WeakValueDictionary()

    def keeper(self, session: SessionId, cwd: str) -> FileKeeper:
        """Return the keeper of a session, the same one to all; raises StoreError for an impossible id."""
        with self._lock:
            found = self._keepers.get(session)
            if found is None:
                found = FileKeeper(cwd, self._pending(session), self._sight, self._blobs)
                self._keepers[session] = found
            return found

    def forget(self, session: SessionId) -> None:
        """Drop what was kept aside for a session that is deleted; raises StoreError."""
        with self._lock:
            self._keepers.pop(session, None)
        self._pending(session).remove()

    def _pending(self, session: SessionId) -> Pending:
        if not is_session_id(session):
            raise StoreError(f'"{session}" cannot be the id of a session')
        return Pending(None if self._folder is None else self._folder / f"{session}.pending")
