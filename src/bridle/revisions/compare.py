"""Finds out what has changed of all that was kept, and what has to be watched further."""

import os
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from bridle.core.revision import FileChange
from bridle.revisions.gather import joined
from bridle.revisions.names import escape, record_name
from bridle.revisions.pending import Kept
from bridle.revisions.sight import (
    NOTHING,
    Folders,
    Found,
    Sight,
    is_being_written,
    last_touched_ns,
    open_folder,
    version_of,
)

GRACE_NS = 1_000_000_000
"""How long after it was kept a path may still be changed by who had it kept."""

_TRIES = 3


class Comparison:
    """What was kept, beside what is there now."""

    def __init__(
        self,
        kept: Mapping[str, Kept],
        cwd: str,
        sight: Sight,
        last_keep_ns: int,
        *,
        is_over: bool = False,
    ) -> None:
        """Carry all that was kept in this interval if it ended a moment ago, unless all is over."""
        self.changes: list[FileChange] = []
        self.carried: list[Kept] = []
        self._kept = kept
        self._cwd = cwd
        self._sight = sight
        self._now_ns = sight.now_ns()
        self._is_over = is_over
        self._is_recent = self._now_ns - last_keep_ns < GRACE_NS

    def run(self) -> None:
        """Fill the changes, sorted by path, and what is carried; raises StoreError."""
        with Folders() as folders:
            for path in sorted(self._kept, key=lambda path: path.rpartition("/")[::2]):
                self._compare(path, self._kept[path], folders)
        self.changes.sort(key=lambda change: change.path)

    def _compare(self, path: str, kept: Kept, folders: Folders) -> None:
        try:
            now, is_written = self._look_at(path, folders, kept.found)
        except OSError:
            self.carried.append(replace(kept, carried=True, until_ns=0))  # until it can be looked at
            return
        until_ns = self._until_ns(kept)
        if _differ(kept.found, now):
            if not kept.owns_change():
                return
            until_ns = until_ns or (self._now_ns + GRACE_NS if kept.carried else 0)
            self.changes.append(FileChange(record_name(path, self._cwd), kept.state, now.state))
        self._carry(path, kept, now, until_ns=until_ns, is_written=is_written)
        if _may_have_grown(kept, now):
            for child in self._new_in(path):
                self._report_new(child, kept, until_ns, folders)

    def _report_new(self, path: str, above: Kept, until_ns: int, folders: Folders) -> None:
        """Report what came into a folder by a rename."""
        try:
            found, is_written = self._look_at(path, folders, NOTHING)
        except PermissionError:
            return  # it could not be looked at where it came from either
        if above.until_ns and last_touched_ns(path) > above.until_ns:
            return
        self.changes.append(FileChange(record_name(path, self._cwd), None, found.state))
        self._carry(path, above, found, until_ns=until_ns, is_written=is_written)

    def _look_at(self, path: str, folders: Folders, known: Found) -> tuple[Found, bool]:
        """Return what lies at a path, and whether it is being written: if not, what the last writer left."""
        for _ in range(_TRIES):
            now = look_at(path, folders, self._sight, known)
            if now.state is None or now.state.kind != "file":
                return now, False
            parent, _, name = path.rpartition("/")
            folder = folders.at(parent or "/")
            if folder is None or is_being_written(folder, name):
                break
            if version_of(folder, name) == now.version:
                return now, False
        return now, True

    def _until_ns(self, kept: Kept) -> int:
        """Return how long a change of a path may be on its way; 0 when none is."""
        if kept.carried:
            return kept.until_ns if self._now_ns < kept.until_ns else 0
        return self._now_ns + GRACE_NS if self._is_recent else 0

    def _carry(self, path: str, kept: Kept, now: Found, *, until_ns: int, is_written: bool) -> None:
        if (is_written or until_ns) and not self._is_over:
            self.carried.append(
                Kept(
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
        """Yield what is not kept in a folder: no more than was kept where it came from."""
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
                child = joined(path, name)
                if child not in self._kept:
                    yield child
                    waiting.append(child)


def look_at(path: str, folders: Folders, sight: Sight, known: Found = NOTHING) -> Found:
    """Return what lies at a real path; `known` again when it did not change; raises OSError, StoreError."""
    parent, _, name = path.rpartition("/")
    folder = folders.at(parent or "/")
    return NOTHING if folder is None else sight.look(folder, name or ".", known=known)


def _differ(before: Found, now: Found) -> bool:
    if before.state != now.state:
        return True
    is_described = now.state is not None and now.state.kind == "file" and not now.state.kept
    return is_described and before.version != now.version


def _may_have_grown(kept: Kept, now: Found) -> bool:
    """Tell whether a folder may hold what is not kept and was not there."""
    if now.state is None or now.state.kind != "folder" or not kept.is_closed:
        return False
    return not (kept.whole and kept.settled and kept.version == now.version)
