"""Collects the states to save before one path changes.

- Below a path that was not a folder at the start of the interval, nothing existed then, whatever was moved
  there since. The same holds for a name that was missing in a folder saved with all its content.
- A folder is saved with all its content, because it may be about to be renamed. A path that ends in `/.`
  means the folder alone: its mode, and that it exists.
- A file with several hard links is saved under each name below the working directory: a write through one
  name changes all.
"""

import errno
import os
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from bridle.core.errors import StoreError
from bridle.revisions.file_reader import (
    NO_FOLDER,
    NOTHING,
    FileReader,
    PathState,
    open_folder,
    open_folder_following_links,
)
from bridle.revisions.path_names import escape, printable, unescape
from bridle.revisions.pending_file import SavedState

MAX_KEPT = 500_000
MAX_TREE_BYTES = 2 * 1024 * 1024 * 1024

SharedFiles = Mapping[tuple[int, int], list[str]]
"""The paths of files with several hard links, by device and inode."""


class Snapshot:
    """The states that one `keep` adds to those already saved."""

    def __init__(
        self,
        kept: Mapping[str, SavedState],
        cwd: str,
        sight: FileReader,
        shared_files: Callable[[], SharedFiles],
        *,
        max_kept: int = MAX_KEPT,
        max_tree_bytes: int = MAX_TREE_BYTES,
    ) -> None:
        """Set the limits: `max_kept` paths per interval, and `max_tree_bytes` of content per folder.

        The content of files beyond `max_tree_bytes` is not saved.
        """
        self.entries: dict[str, SavedState] = {}
        self._kept = kept
        self._cwd = cwd
        self._sight = sight
        self._shared_files = shared_files
        self._shared: list[tuple[int, int]] = []
        self._max_kept = max_kept
        self._max_tree_bytes = max_tree_bytes

    def gather(self, path: str) -> None:
        """Collect the entries for a path, following links except in the last name.

        Raises OSError for what cannot be read and StoreError for what cannot be saved.
        """
        is_alone = path.endswith("/.")
        path = _without_dots(os.path.join(self._cwd, path))
        if path == "/":
            return
        parent, _, name = path.rpartition("/")
        try:
            folder, real = open_folder_following_links(parent or "/")
        except OSError as error:
            if error.errno not in NO_FOLDER:
                raise
            self._gather_missing(join_path(os.path.realpath(parent), name))
            return
        try:
            self._gather_at(folder, join_path(real, name), is_alone=is_alone)
        finally:
            os.close(folder)
        self._gather_other_names()

    def add_alone(self, path: str) -> None:
        """Collect the entry of a real path, without following links; raises like `snapshot`."""
        if path == "/":
            return
        folder = open_folder(os.path.dirname(path))
        if folder is None:
            self._gather_missing(path)
            return
        try:
            self._gather_at(folder, path, is_alone=True)
        finally:
            os.close(folder)

    def _gather_at(self, folder: int, path: str, *, is_alone: bool) -> None:
        known = self._known(path)
        if known is None and self._was_absent(path):
            known = self._add(path, NOTHING)
        elif known is None or known.carried:
            known = self._look(folder, path, known)
        # The working directory and the folders above it cannot be renamed from inside.
        if not (is_alone or known.is_closed or join_path(self._cwd, "").startswith(join_path(path, ""))):
            self._gather_tree(path)

    def _gather_missing(self, path: str) -> None:
        """Save that a path, and each missing folder above it, does not exist."""
        while path != "/" and self._known(path) is None and not os.path.lexists(path):
            self._add(path, NOTHING)
            path = os.path.dirname(path)

    def _gather_tree(self, top: str) -> None:
        left = self._max_tree_bytes
        waiting = [top]
        while waiting:
            path = waiting.pop()
            try:
                children = self._gather_children(path, left)
            except (PermissionError, FileNotFoundError):
                continue  # a folder that cannot be listed is not marked as whole
            left -= sum(
                child.state.size for child in children if child.state is not None and child.state.kept
            )
            waiting += [unescape(child.path) for child in children if not child.is_closed]
            known = self._known(path)
            assert known is not None
            self.entries[path] = replace(known, whole=True)

    def _gather_children(self, path: str, max_bytes: int) -> list[SavedState]:
        folder = open_folder(path, to_list=True)
        if folder is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        children: list[SavedState] = []
        try:
            for name in os.listdir(folder):
                child = join_path(path, name)
                known = self._known(child)
                if known is None or known.carried:
                    known = self._look(folder, child, known, max(0, max_bytes))
                    max_bytes -= known.state.size if known.state is not None and known.state.kept else 0
                children.append(known)
        finally:
            os.close(folder)
        return children

    def _gather_other_names(self) -> None:
        while self._shared:
            for path in self._shared_files().get(self._shared.pop(), ()):
                self.add_alone(path)

    def _look(
        self, folder: int, path: str, known: SavedState | None, max_bytes: int | None = None
    ) -> SavedState:
        name = path.rpartition("/")[2]
        if known is None:
            return self._add(path, self._sight.look(folder, name, max_bytes=max_bytes))
        found = self._sight.look(folder, name, known=known.found, max_bytes=max_bytes)
        return self._add(path, found, ours=known.owns_change())

    def _add(self, path: str, found: PathState, *, ours: bool = True) -> SavedState:
        if len(self._kept) + len(self.entries) >= self._max_kept:
            raise StoreError(
                f"{printable(escape(path))} cannot be kept: {self._max_kept} paths were touched already",
                hint="do it in smaller steps",
            )
        if found.shared is not None:
            self._shared.append(found.shared)
        kept = SavedState(escape(path), found.state, found.version, found.settled, ours=ours)
        self.entries[path] = kept
        return kept

    def _known(self, path: str) -> SavedState | None:
        return self.entries.get(path) or self._kept.get(path)

    def _was_absent(self, path: str) -> bool:
        while path := path.rpartition("/")[0]:
            known = self._known(path)
            if known is not None and known.is_closed and not known.carried:
                return True
        return False


def join_path(folder: str, name: str) -> str:
    """Return the path of a name in a folder."""
    return f"/{name}" if folder == "/" else f"{folder}/{name}"


def _without_dots(path: str) -> str:
    """Return a path whose last component is a name, not a dot."""
    while path.endswith(("/", "/.")) and path != "/":
        path = path.removesuffix(".").rstrip("/") or "/"
    return os.path.realpath(path) if path.endswith("/..") else path
