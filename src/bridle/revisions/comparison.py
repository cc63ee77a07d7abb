"""Compares saved states with the disk: finds changes, and paths to track further."""

import os
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from bridle.core.revision import FileChange
from bridle.revisions.file_reader import (
    NOTHING,
    FileReader,
    FolderCache,
    PathState,
    is_being_written,
    last_change_ns,
    open_folder,
    version_of,
)
from bridle.revisions.path_names import encode_name, escape
from bridle.revisions.pending_file import SavedState
from bridle.revisions.snapshot import join_path

GRACE_NS = 1_000_000_000
"""A change up to this long after `keep` still counts as made by its caller."""

_TRIES = 3


class Comparison:
    """Compares saved states with what is on disk now."""

    def __init__(
        self,
        kept: Mapping[str, SavedState],
        cwd: str,
        sight: FileReader,
        last_keep_ns: int,
        *,
        is_over: bool = False,
    ) -> None:
        """Compare `kept` with the disk.

        If the last `keep` was less than `GRACE_NS` ago, every path saved in this interval is carried into the
        next one. With `is_over` nothing is carried.
        """
        self.changes: list[FileChange] = []
        self.carried: list[SavedState] = []
        self._kept = kept
        self._cwd = cwd
        self._sight = sight
        self._now_ns = sight.now_ns()
        self._is_over = is_over
        self._is_recent = self._now_ns - last_keep_ns < GRACE_NS

    def run(self) -> None:
        """Fill `changes`, sorted by path, and `carried`; raises StoreError."""
        with FolderCache() as folders:
            for path in sorted(self._kept, key=lambda path: path.rpartition("/")[::2]):
                self._compare(path, self._kept[path], folders)
        self.changes.sort(key=lambda change: change.path)

    def _compare(self, path: str, kept: SavedState, folders: FolderCache) -> None:
        try:
            now, is_written = self._look_at(path, folders, kept.found)
        except OSError:
            self.carried.append(replace(kept, carried=True, until_ns=0))  # until it can be read
            return
        until_ns = self._until_ns(kept)
        if _differ(kept.found, now):
            if not kept.owns_change():
                return
            until_ns = until_ns or (self._now_ns + GRACE_NS if kept.carried else 0)
            self.changes.append(FileChange(encode_name(path, self._cwd), kept.state, now.state))
        self._carry(path, kept, now, until_ns=until_ns, is_written=is_written)
        if _may_have_grown(kept, now):
            for child in self._new_in(path):
                self._report_new(child, kept, until_ns, folders)

    def _report_new(self, path: str, above: SavedState, until_ns: int, folders: FolderCache) -> None:
        """Report a path that a rename moved into a saved folder."""
        try:
            found, is_written = self._look_at(path, folders, NOTHING)
        except PermissionError:
            return  # it could not be read at its old path either
        if above.until_ns and last_change_ns(path) > above.until_ns:
            return
        self.changes.append(FileChange(encode_name(path, self._cwd), None, found.state))
        self._carry(path, above, found, until_ns=until_ns, is_written=is_written)

    def _look_at(self, path: str, folders: FolderCache, known: PathState) -> tuple[PathState, bool]:
        """Return what is at a path, and True if a writer still has it open; else it is the final content."""
        for _ in range(_TRIES):
            now = read_state(path, folders, self._sight, known)
            if now.state is None or now.state.kind != "file":
                return now, False
            parent, _, name = path.rpartition("/")
            folder = folders.at(parent or "/")
            if folder is None or is_being_written(folder, name):
                break
            if version_of(folder, name) == now.version:
                return now, False
        return now, True

    def _until_ns(self, kept: SavedState) -> int:
        """Return until when a change of a path may still arrive; 0 if none is expected."""
        if kept.carried:
            return kept.until_ns if self._now_ns < kept.until_ns else 0
        return self._now_ns + GRACE_NS if self._is_recent else 0

    def _carry(self, path: str, kept: SavedState, now: PathState, *, until_ns: int, is_written: bool) -> None:
        if (is_written or until_ns) and not self._is_over:
            self.carried.append(
                SavedState(
                    escape(path),
                    now.state,
                    now.version,
                    now.settled,
                    whole=kept.is_closed and now.state is not None and now.state.kind == "folder",
                    carried=True,
                    until_ns=0 if is_written else until_ns,
                )
            )

    def _new_in(self, top: str) -> Iterator[str]:
        """Yield the paths below a folder that are not saved; no more than were saved where they came from."""
        waiting = [top]
        while waiting:
            path = waiting.pop()
            try:
                folder = open_folder(path, to_list=True)
            except PermissionError:
                continue
            if folder is None:
                continue
            try:
                entries = os.listdir(folder)
            finally:
                os.close(folder)
            for name in entries:
                child = join_path(path, name)
                if child not in self._kept:
                    yield child
                    waiting.append(child)


def read_state(path: str, folders: FolderCache, sight: FileReader, known: PathState = NOTHING) -> PathState:
    """Return what is at a real path, or `known` if it did not change; raises OSError, StoreError."""
    parent, _, name = path.rpartition("/")
    folder = folders.at(parent or "/")
    return NOTHING if folder is None else sight.look(folder, name or ".", known=known)


def _differ(before: PathState, now: PathState) -> bool:
    if before.state != now.state:
        return True
    is_described = now.state is not None and now.state.kind == "file" and not now.state.kept
    return is_described and before.version != now.version


def _may_have_grown(kept: SavedState, now: PathState) -> bool:
    """Return True if a folder may contain new entries that are not saved."""
    if now.state is None or now.state.kind != "folder" or not kept.is_closed:
        return False
    return not (kept.whole and kept.settled and kept.version == now.version)
