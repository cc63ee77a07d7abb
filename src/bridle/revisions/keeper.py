"""Keeps what files were before a session changes them, and finds out what it has changed.

```
keep(a) ── a tool or a program changes a ── collect() ─▶ FileChange(a, before, after) ── recorded, confirm()
```

What was kept is the state at the beginning of the interval between two `collect`s. Some paths are carried
into the next interval, although nobody keeps them again:

- A file that somebody has open for writing at `collect`, a background job most likely.
- What was kept a moment before `collect`, for the next second: the change it was kept for may still be on
  its way.

Other changes without a `keep` are not ours. Nor is any that comes after a `collect` when all was over.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock

from bridle.core.errors import StoreError
from bridle.core.ports import Blobs
from bridle.core.revision import FileChange, FileState
from bridle.revisions.compare import Comparison, look_at
from bridle.revisions.gather import MAX_KEPT, Gathering, SharedFiles
from bridle.revisions.names import can_be_path, escape, path_of, printable, record_name, unescape
from bridle.revisions.pending import Collected, Confirmed, Kept, KeptNow, Pending
from bridle.revisions.restore import Restoration
from bridle.revisions.sight import UNSEEN, Folders, Sight, shared_files


class FileKeeper:
    """Watches over the files of one session; every method blocks and is safe in any thread."""

    def __init__(self, cwd: str, pending: Pending, sight: Sight, blobs: Blobs) -> None:
        """Go on with what a killed process has left in `pending`, at the first call."""
        self._cwd = os.path.realpath(cwd)
        self._pending = pending
        self._sight = sight
        self._blobs = blobs
        # A path has one state in each interval, and it is stored before anybody relies on it.
        self._lock = RLock()
        self._is_loaded = False
        self._kept: dict[str, Kept] = {}
        self._quick: set[str] = set()
        self._unconfirmed: tuple[FileChange, ...] = ()
        self._noticed: list[FileChange] = []
        self._shared: SharedFiles | None = None
        self._last_keep_ns = 0

    def keep(self, path: str) -> None:
        """Keep what lies at an absolute path, durably, before it is changed; quick if it was kept already.

        A folder is kept with all that is in it; a path that ends in `/.` means the folder alone, which is
        enough for who makes, removes or chmods it. Raises StoreError when something cannot be kept: then
        it must not be changed.
        """
        self._last_keep_ns = self._sight.now_ns()
        if path in self._quick or not can_be_path(path):
            return
        with self._lock:
            self._keep(path, Gathering.gather)
            self._last_keep_ns = self._sight.now_ns()

    def collect(self, *, is_over: bool = False) -> tuple[FileChange, ...]:
        """Return what has changed since the last time, of all that was kept, sorted by path.

        Nothing is carried when all is over: what is changed from now on, somebody else has changed.
        It is preceded by what was returned before and not confirmed: whoever took that may have been stopped.
        Raises StoreError when new content cannot be kept; nothing is forgotten then.
        """
        with self._lock:
            self._load()
            # In this order: who still found a path among the quick ones is seen to have kept just now.
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
        """Say that all that `collect` has returned is recorded; raises StoreError."""
        with self._lock:
            if not self._unconfirmed:
                return
            if self._kept:
                self._pending.add(Confirmed())
            else:
                self._pending.remove()
            self._unconfirmed = ()

    def look(self, paths: Sequence[str]) -> dict[str, FileState | None]:
        """Return what lies at these paths now, as change records name them; raises StoreError."""
        with self._lock, Folders() as folders:
            return {name: self._state_of(name, folders) for name in sorted(paths)}

    def restore(self, targets: Mapping[str, FileState | None]) -> tuple[str, ...]:
        """Bring paths back to these states, keeping what is there now; return what could not be, in words.

        `collect` first, or the way back is only known to before what has not been collected. Raises
        StoreFull when there is no room to keep what is there now: nothing was changed then.
        """
        problems: list[str] = []
        paths: dict[str, FileState | None] = {}
        for name, state in targets.items():
            try:
                paths[path_of(name, self._cwd)] = state
            except ValueError as error:
                problems.append(str(error))
        with self._lock:
            found = Restoration(paths, self._sight, self._blobs, self._keep_alone).run()
        named = (f"{printable(record_name(path, self._cwd))}: {why}" for path, why in found.items())
        return tuple(sorted([*problems, *named]))

    def _keep(self, path: str, gather: Callable[[Gathering, str], None]) -> None:
        self._load()
        gathering = Gathering(self._kept, self._cwd, self._sight, self._shared_files)
        try:
            gather(gathering, path)
        except OSError as error:
            why = error.strerror or error
            raise StoreError(f"{printable(escape(path))} cannot be kept: {why}") from error
        if gathering.entries:
            entries = tuple(gathering.entries.values())
            self._pending.add(KeptNow(entries))
            self._admit(entries)

    def _keep_alone(self, path: str) -> None:
        self._keep(path, Gathering.gather_alone)

    def _load(self) -> None:
        if self._is_loaded:
            return
        for line in self._pending.load():
            match line:
                case Collected(changes, carried):
                    self._unconfirmed = changes
                    self._admit(carried)
                case KeptNow(entries):
                    self._admit(entries)
                case Confirmed():
                    self._unconfirmed = ()
        self._is_loaded = True

    def _admit(self, entries: Iterable[Kept]) -> None:
        for kept in entries:
            path = unescape(kept.path)
            old = self._kept.get(path)
            if old is not None and old.carried and kept.ours and old.state != kept.state:
                self._noticed.append(FileChange(record_name(path, self._cwd), old.state, kept.state))
            self._kept[path] = kept
            if not kept.carried:
                self._quick.add(path if kept.is_closed else f"{path}/.")

    def _shared_files(self) -> SharedFiles:
        if self._shared is None:
            self._shared = shared_files(self._cwd, MAX_KEPT)
        return self._shared

    def _state_of(self, name: str, folders: Folders) -> FileState | None:
        try:
            return look_at(path_of(name, self._cwd), folders, self._sight).state
        except (OSError, ValueError):
            return UNSEEN
