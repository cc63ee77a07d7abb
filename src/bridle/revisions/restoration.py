"""Restores paths to earlier states, and never destroys what could not be restored again.

```
1  save what is there now; make read-only folders of ours writable     top down
2  remove what must not exist, or must become another kind             deepest first
3  create folders, writable for their owner                            top down
4  put files and links in place, each atomically
5  set the modes of folders                                            deepest first
```

A folder that must be removed but contains something else stays. A problem with one path does not stop the
others.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count

from bridle.core.errors import StoreError, StoreFull
from bridle.core.ports import Blobs
from bridle.core.revision import FileKind, FileState
from bridle.revisions.file_reader import NOTHING, FileReader, PathState, open_folder

_OWNER_MODE = stat.S_IRWXU
_numbers = count(1_000_000)  # unique per restore, and distinct from the tools, which count from 0
_WORDS = {
    errno.ENOTEMPTY: "the folder is not empty",
    errno.EEXIST: "something else is in the way",
    errno.ENOTDIR: "something else is in the way",
}


class Restoration:
    """One restore of a set of paths."""

    def __init__(
        self,
        targets: Mapping[str, FileState | None],
        sight: FileReader,
        blobs: Blobs,
        keep: Callable[[str], None],
    ) -> None:
        """Restore real paths to the states in `targets`; `keep` saves one path alone."""
        self._targets = targets
        self._sight = sight
        self._blobs = blobs
        self._keep = keep
        self._problems: dict[str, str] = {}
        self._now: dict[str, FileState | None] = {}
        self._opened: dict[str, int] = {}
        self._asides: dict[str, str] = {}
        self._checked: set[tuple[str, int]] = set()

    def run(self) -> dict[str, str]:
        """Restore all paths; return the reason of each failure, by path.

        Raises StoreFull if there is no space to save what is there now; then nothing was changed.
        """
        paths = sorted(self._targets)
        try:
            for path in paths:
                self._attempt(path, self._prepare)
        except StoreFull:
            self._set_modes(self._opened)
            raise
        for path in reversed(paths):
            if self._must_be_removed(path):
                self._attempt(path, self._remove)
        for path in paths:
            if self._becomes(path, "folder"):
                self._attempt(path, self._make_folder)
        for path in paths:
            if self._becomes(path, "file", "link"):
                self._attempt(path, self._put)
        self._set_modes(self._opened | self._folder_modes())
        return self._problems

    # ------------------------------------------------------------------------ preparation

    def _open_folders_above(self, path: str, rights: int = os.W_OK | os.X_OK) -> None:
        """Make the folders above a path writable for us if we own them; step 5 resets their modes."""
        above = path.rpartition("/")[0]
        if not above or (above, rights) in self._checked:
            return
        self._checked.add((above, rights))
        self._open_folders_above(above, os.X_OK)
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            facts = os.lstat(above)
            is_ours = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()
            if is_ours and not os.access(above, rights, effective_ids=True, follow_symlinks=False):
                mode = stat.S_IMODE(facts.st_mode)
                self._keep(above)
                self._chmod(above, mode | _OWNER_MODE)
                self._opened.setdefault(above, mode)

    def _look(self, path: str) -> PathState:
        parent, _, name = path.rpartition("/")
        folder = open_folder(parent or "/")
        if folder is None:
            return NOTHING
        try:
            return self._sight.look(folder, name or ".")
        finally:
            os.close(folder)

    def _prepare(self, path: str) -> None:
        """Save what is there, and note a problem if the restore would lose something or is impossible."""
        self._open_folders_above(path)
        self._keep(path)
        now = self._look(path).state
        target = self._targets[path]
        self._now[path] = now
        if target == now:
            return
        if target is not None and target.kind == "other":
            self._problems[path] = "it was not a file, link or folder and cannot be recreated"
        elif target is not None and not target.kept:
            self._problems[path] = "its earlier content was too large to save or could not be read"
        elif now is not None and not now.kept:
            self._problems[path] = (
                "left alone: its current content cannot be saved, so this could not be undone"
            )
        elif self._becomes(path, "file", "link"):
            self._reserve_temporary(path.rpartition("/")[0] or "/")

    def _reserve_temporary(self, folder: str) -> None:
        """Choose the temporary file name for new content in a folder, and save that it does not exist.

        A file that a crash leaves there then counts as ours, and the next restore removes it.
        """
        if folder in self._asides:
            return
        names = (f".bridle-{os.getpid()}-{number}.tmp" for number in _numbers)
        name = next(name for name in names if not os.path.lexists(f"{folder}/{name}"))
        self._keep(f"{folder.rstrip('/')}/{name}")
        self._asides[folder] = name

    def _becomes(self, path: str, *kinds: FileKind) -> bool:
        target = self._targets[path]
        return target is not None and target.kind in kinds and target != self._now.get(path)

    def _must_be_removed(self, path: str) -> bool:
        now, target = self._now.get(path), self._targets[path]
        if now is None:
            return False
        return target is None or (now.kind != target.kind and "folder" in (now.kind, target.kind))

    # ------------------------------------------------------------------------ steps

    def _remove(self, path: str) -> None:
        with _parent(path) as (folder, name):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
        self._now[path] = None
        self._opened.pop(path, None)

    def _make_folder(self, path: str) -> None:
        if self._now[path] is not None:
            return
        self._make_parents(path)
        with _parent(path) as (folder, name):
            os.mkdir(name, _OWNER_MODE, dir_fd=folder)

    def _make_parents(self, path: str) -> None:
        missing: list[str] = []
        above = os.path.dirname(path)
        while above != "/" and (folder := open_folder(above)) is None:
            missing.append(above)
            above = os.path.dirname(above)
        if above != "/" and folder is not None:
            os.close(folder)
        for folder_path in reversed(missing):
            with _parent(folder_path) as (folder, name):
                os.mkdir(name, 0o755, dir_fd=folder)

    def _put(self, path: str) -> None:
        now, target = self._now[path], self._targets[path]
        assert target is not None
        if now is not None and (now.kind, now.digest) == (target.kind, target.digest):
            self._chmod(path, target.mode)
            return
        data = self._blobs.get(target.digest)
        self._make_parents(path)
        temporary = self._asides[path.rpartition("/")[0] or "/"]
        with _parent(path) as (folder, name):
            if target.kind == "link":
                os.symlink(os.fsdecode(data), temporary, dir_fd=folder)
            else:
                _write_temporary(folder, temporary, name, data, target.mode)
            try:
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise

    def _folder_modes(self) -> dict[str, int]:
        return {
            path: target.mode
            for path, target in self._targets.items()
            if target is not None and target.kind == "folder" and path not in self._problems
        }

    def _set_modes(self, modes: Mapping[str, int]) -> None:
        for path in sorted(modes, reverse=True):
            with self._record_problem(path):
                found = self._look(path).state
                if found is not None and found.kind == "folder" and found.mode != modes[path]:
                    self._chmod(path, modes[path])

    # ------------------------------------------------------------------------ helpers

    def _attempt(self, path: str, step: Callable[[str], None]) -> None:
        if path not in self._problems:
            with self._record_problem(path):
                step(path)

    @contextmanager
    def _record_problem(self, path: str) -> Iterator[None]:
        """Record an error as a problem of this path, so that the others continue; StoreFull is raised."""
        try:
            yield
        except StoreFull:
            raise
        except StoreError as error:
            self._problems[path] = error.message
        except OSError as error:
            self._problems[path] = _WORDS.get(error.errno or 0) or error.strerror or str(error)

    def _chmod(self, path: str, mode: int) -> None:
        """Set a mode without following a link; needs no read permission."""
        with _parent(path) as (folder, name):
            if os.chmod in os.supports_follow_symlinks:
                os.chmod(name, mode, dir_fd=folder, follow_symlinks=False)
                return
            descriptor = os.open(name or ".", os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                if stat.S_ISLNK(os.fstat(descriptor).st_mode):
                    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
                os.chmod(f"/proc/self/fd/{descriptor}", mode)
            finally:
                os.close(descriptor)


@contextmanager
def _parent(path: str) -> Iterator[tuple[int, str]]:
    parent, _, name = path.rpartition("/")
    folder = open_folder(parent or "/")
    if folder is None:
        raise FileNotFoundError(errno.ENOENT, "its folder is gone or became a link")
    try:
        yield folder, name
    finally:
        os.close(folder)


def _write_temporary(folder: int, temporary: str, name: str, data: bytes, mode: int) -> None:
    """Write a temporary file that replaces `name`, with its owner and this mode."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        _copy_owner(descriptor, folder, name)
        os.fchmod(descriptor, mode)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)


def _copy_owner(descriptor: int, folder: int, name: str) -> None:
    """Give a file the owner of the file it replaces, if permitted."""
    with suppress(FileNotFoundError, PermissionError):
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
        ours = os.fstat(descriptor)
        if (ours.st_uid, ours.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)
