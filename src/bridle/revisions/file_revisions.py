"""File revisions of all sessions: one `FileKeeper` per session, with their pending files in one folder."""

import time
from collections.abc import Callable, MutableMapping
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import Blobs
from bridle.revisions.file_keeper import FileKeeper
from bridle.revisions.file_reader import MAX_FILE_BYTES, FileReader
from bridle.revisions.pending_file import PendingFile


class FileRevisions:
    """Saves earlier file contents; `<folder>/<session>.pending` survives a crash of the process."""

    def __init__(
        self,
        folder: Path | None,
        blobs: Blobs,
        max_file_bytes: int = MAX_FILE_BYTES,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Use a folder, which is created on demand; without one, nothing survives the process.

        The content of files above `max_file_bytes` is not saved: they cannot be restored.
        """
        self._folder = folder
        self._blobs = blobs
        self._sight = FileReader(blobs, max_file_bytes, now_ns)
        self._lock = Lock()  # ensures one keeper per session
        # With a folder, an unused keeper can be dropped: its file holds its state.
        self._keepers: MutableMapping[SessionId, FileKeeper] = {} if folder is None else WeakValueDictionary()

    def keeper(self, session: SessionId, cwd: str) -> FileKeeper:
        """Return the keeper of a session, always the same object; raises StoreError for an invalid id."""
        with self._lock:
            found = self._keepers.get(session)
            if found is None:
                found = FileKeeper(cwd, self._pending(session), self._sight, self._blobs)
                self._keepers[session] = found
            return found

    def forget(self, session: SessionId) -> None:
        """Delete the pending file of a deleted session; raises StoreError."""
        with self._lock:
            self._keepers.pop(session, None)
        self._pending(session).remove()

    def _pending(self, session: SessionId) -> PendingFile:
        if not is_session_id(session):
            raise StoreError(f'"{session}" cannot be the id of a session')
        return PendingFile(None if self._folder is None else self._folder / f"{session}.pending")
