"""File revisions of all sessions: one `FileKeeper` per session, with their pending files in one folder."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from threading import Lock, RLock
from weakref import WeakValueDictionary

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import Blobs
from bridle.core.revision import FileChange, FileState
from bridle.revisions.comparison import Comparison, read_state
from bridle.revisions.file_reader import MAX_FILE_BYTES, UNSEEN, FileReader, FolderCache, find_hard_links
from bridle.revisions.path_names import decode_name, encode_name, escape, is_valid_path, printable, unescape
from bridle.revisions.pending_file import Collected, Confirmed, PendingFile, SavedState, SavedStates
from bridle.revisions.restoration import Restoration
from bridle.revisions.snapshot import MAX_KEPT, SharedFiles, Snapshot

# ---------------------------------------------------------------------------- file keeper
# Saves files before a session changes them, and finds out what it changed.
#
# ```
# keep(a) ── a tool or a program changes a ── collect() ─▶ FileChange(a, before, after) ── recorded, confirm()
# ```
#
# A saved state is the state at the start of the interval between two `collect`s. Some paths are carried into
# the next interval without another `keep`:
#
# - A file that a process has open for writing at `collect`, most likely a background job.
# - A path saved just before `collect`, for one more second: the change it was saved for may still come.
#
# Other changes without a `keep` are not the session's, and neither are changes after `collect(is_over=True)`.


class FileKeeper:
    """Tracks the files of one session; every method blocks and is thread-safe."""

    def __init__(self, cwd: str, pending: PendingFile, sight: FileReader, blobs: Blobs) -> None:
        """Create a keeper; its first call loads what a killed process left in `pending_file`."""
        self._cwd = os.path.realpath(cwd)
        self._pending = pending
        self._sight = sight
        self._blobs = blobs
        # Each path has one state per interval, which is stored before `keep` returns.
        self._lock = RLock()
        self._is_loaded = False
        self._kept: dict[str, SavedState] = {}
        self._quick: set[str] = set()
        self._unconfirmed: tuple[FileChange, ...] = ()
        self._noticed: list[FileChange] = []
        self._shared: SharedFiles | None = None
        self._last_keep_ns = 0

    def keep(self, path: str) -> None:
        """Save durably what is at an absolute path, before it is changed; quick if already saved.

        A folder is saved with all its content; a path that ends in `/.` means the folder alone, which is
        enough to create, remove or chmod it. Raises StoreError if something cannot be saved: then it must
        not be changed.
        """
        self._last_keep_ns = self._sight.now_ns()
        if path in self._quick or not is_valid_path(path):
            return
        with self._lock:
            self._keep(path, Snapshot.gather)
            self._last_keep_ns = self._sight.now_ns()

    def collect(self, *, is_over: bool = False) -> tuple[FileChange, ...]:
        """Return the changes of all saved paths since the last `collect`, sorted by path.

        Earlier results that were not confirmed come first again: their caller may have been stopped. With
        `is_over` nothing is carried: later changes are not the session's. Raises StoreError if new content
        cannot be saved; then nothing is lost.
        """
        with self._lock:
            self._load()
            # Before reading `_last_keep_ns`, so that a `keep` that still used `_quick` counts as recent.
            self._quick = set()
            comparison = Comparison(self._kept, self._cwd, self._sight, self._last_keep_ns, is_over=is_over)
            comparison.run()
            result = (*self._unconfirmed, *self._noticed, *comparison.changes)
            carried = tuple(comparison.carried)
            self._pending.replace(Collected(result, carried))
            self._unconfirmed = result
            self._noticed = []
            self._kept = {}
            self._shared = None
            self._admit(carried)
            return result

    def confirm(self) -> None:
        """Mark everything that `collect` returned as recorded; raises StoreError."""
        with self._lock:
            if not self._unconfirmed:
                return
            if self._kept:
                self._pending.add(Confirmed())
            else:
                self._pending.remove()
            self._unconfirmed = ()

    def look(self, paths: Sequence[str]) -> dict[str, FileState | None]:
        """Return the current state of paths, named as in change records; raises StoreError."""
        with self._lock, FolderCache() as folders:
            return {name: self._state_of(name, folders) for name in sorted(paths)}

    def restore(self, targets: Mapping[str, FileState | None]) -> tuple[str, ...]:
        """Restore paths to these states after saving what is there now; return the failures as messages.

        Call `collect` first, or the restore can only be undone to before the uncollected changes. Raises
        StoreFull if there is no space to save what is there now: then nothing was changed.
        """
        problems: list[str] = []
        paths: dict[str, FileState | None] = {}
        for name, state in targets.items():
            try:
                paths[decode_name(name, self._cwd)] = state
            except ValueError as error:
                problems.append(str(error))
        with self._lock:
            found = Restoration(paths, self._sight, self._blobs, self._keep_alone).run()
        named = (f"{printable(encode_name(path, self._cwd))}: {why}" for path, why in found.items())
        return tuple(sorted([*problems, *named]))

    def _keep(self, path: str, gather: Callable[[Snapshot, str], None]) -> None:
        self._load()
        gathering = Snapshot(self._kept, self._cwd, self._sight, self._shared_files)
        try:
            gather(gathering, path)
        except OSError as error:
            why = error.strerror or error
            raise StoreError(f"{printable(escape(path))} cannot be kept: {why}") from error
        if gathering.entries:
            entries = tuple(gathering.entries.values())
            self._pending.add(SavedStates(entries))
            self._admit(entries)

    def _keep_alone(self, path: str) -> None:
        self._keep(path, Snapshot.add_alone)

    def _load(self) -> None:
        if self._is_loaded:
            return
        for line in self._pending.load():
            match line:
                case Collected(changes, carried):
                    self._unconfirmed = changes
                    self._admit(carried)
                case SavedStates(entries):
                    self._admit(entries)
                case Confirmed():
                    self._unconfirmed = ()
        self._is_loaded = True

    def _admit(self, entries: Iterable[SavedState]) -> None:
        for kept in entries:
            path = unescape(kept.path)
            old = self._kept.get(path)
            if old is not None and old.carried and kept.ours and old.state != kept.state:
                self._noticed.append(FileChange(encode_name(path, self._cwd), old.state, kept.state))
            self._kept[path] = kept
            if not kept.carried:
                self._quick.add(path if kept.is_closed else f"{path}/.")

    def _shared_files(self) -> SharedFiles:
        if self._shared is None:
            self._shared = find_hard_links(self._cwd, MAX_KEPT)
        return self._shared

    def _state_of(self, name: str, folders: FolderCache) -> FileState | None:
        try:
            return read_state(decode_name(name, self._cwd), folders, self._sight).state
        except (OSError, ValueError):
            return UNSEEN


# ---------------------------------------------------------------------------- file revisions


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
