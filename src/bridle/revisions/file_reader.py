"""Reads the state of paths without following links and without blocking.

A folder is opened first, then its real path is checked; names are looked up inside the open folder. So a
folder that is replaced by a link meanwhile is noticed, and nothing outside is read or changed.
"""

import errno
import fcntl
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from msgspec import Struct

from bridle.core.ports import Blobs
from bridle.core.revision import FileState

MAX_FILE_BYTES = 256 * 1024 * 1024

Version = tuple[int, ...]
"""Identifies a version of a file: device, inode, mode, size, mtime and ctime."""

_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC
# With O_PATH, opening a folder needs no permission to list it.
_PASS = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
_SETTLED_NS = 2_000_000_000  # the coarsest file system clock (FAT) has a resolution of two seconds
_TRIES = 3
_CHUNK_BYTES = 16 * 1024 * 1024

NO_FOLDER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors that mean that nothing can exist at a path, because a folder above it is missing."""

UNSEEN = FileState("other", kept=False)
"""The state of a path that cannot be read."""


class PathState(Struct, frozen=True):
    """The state of a path."""

    state: FileState | None = None
    """None if nothing exists there."""
    version: Version = ()
    settled: bool = True
    """True if any later change alters the version; a change too soon after another may not."""
    shared: tuple[int, int] | None = None
    """Device and inode of a file with several hard links."""


NOTHING = PathState()


class FileReader:
    """Reads the state of files and stores their content as blobs."""

    def __init__(
        self,
        blobs: Blobs,
        max_file_bytes: int = MAX_FILE_BYTES,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Store content as blobs, except of files above `max_file_bytes`."""
        self._blobs = blobs
        self._max_file_bytes = max_file_bytes
        self.now_ns = now_ns

    def look(
        self, folder: int, name: str, *, known: PathState = NOTHING, max_bytes: int | None = None
    ) -> PathState:
        """Return the state of a name in an open folder, or `known` if it did not change.

        Raises OSError if the folder may not be searched, StoreError if content cannot be stored.
        """
        limit = self._max_file_bytes if max_bytes is None else min(max_bytes, self._max_file_bytes)
        for _ in range(_TRIES):
            try:
                facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except (FileNotFoundError, NotADirectoryError):
                return NOTHING
            version = _version(facts)
            if known.settled and known.version == version:
                return known
            try:
                state = self._state(folder, name, facts, limit)
            except _Replaced:
                continue
            is_shared = facts.st_nlink > 1 and state.kind == "file"
            return PathState(
                state,
                version,
                self.now_ns() - facts.st_ctime_ns > _SETTLED_NS,
                (facts.st_dev, facts.st_ino) if is_shared else None,
            )
        return PathState(UNSEEN)

    def _state(self, folder: int, name: str, facts: os.stat_result, limit: int) -> FileState:
        mode = stat.S_IMODE(facts.st_mode)
        match stat.S_IFMT(facts.st_mode):
            case stat.S_IFREG:
                return self._file(folder, name, facts, limit)
            case stat.S_IFDIR:
                return FileState("folder", mode)
            case stat.S_IFLNK:
                target = _link_target(folder, name)
                return FileState("link", 0, self._blobs.put(target), len(target))
            case _:
                return FileState("other", mode, kept=False)

    def _file(self, folder: int, name: str, facts: os.stat_result, limit: int) -> FileState:
        described = FileState("file", stat.S_IMODE(facts.st_mode), "", facts.st_size, kept=False)
        if facts.st_size > limit:
            return described
        try:
            with _opened(folder, name) as descriptor:
                if not os.path.samestat(facts, os.fstat(descriptor)):
                    raise _Replaced
                data = _read(descriptor, facts.st_size, limit)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOENT, errno.ENXIO):
                raise _Replaced from error
            return described  # not readable: a change can be detected, but not undone
        if len(data) > limit:
            return described
        return FileState("file", described.mode, self._blobs.put(data), len(data))


class _Replaced(Exception):
    """The path was replaced while it was read."""


class FolderCache:
    """Opens folders by their real path, one at a time; adjacent paths in a sorted list share one."""

    def __init__(self) -> None:
        self._path = ""
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def at(self, path: str) -> int | None:
        """Return a descriptor of the folder, valid until the next call; None if there is no such folder.

        Raises OSError if it may not be opened.
        """
        if path != self._path:
            self._close()
            self._descriptor = open_folder(path)
            self._path = path
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._path, self._descriptor = "", None


def open_folder_following_links(path: str) -> tuple[int, str]:
    """Open a folder, following links; return a descriptor, which the caller must close, and its real path."""
    descriptor = os.open(path, _PASS)
    try:
        return descriptor, _real_path(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise


def open_folder(path: str, *, to_list: bool = False) -> int | None:
    """Open the folder with this real path; the caller must close it. None if there is none.

    Raises OSError if it may not be opened.
    """
    try:
        descriptor = os.open(path, _FOLDER | os.O_RDONLY if to_list else _PASS)
    except OSError as error:
        if error.errno in NO_FOLDER:
            return None
        raise
    try:
        if _real_path(descriptor, path) == path:
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def is_being_written(folder: int, name: str) -> bool:
    """Return True if a process has a file open for writing; False if the system cannot say.

    The kernel denies a read lease while there is a writer. A granted lease is released at once. A process
    that opens the file for writing meanwhile waits that long, and the signal we then get is ignored.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        with _opened(folder, name) as descriptor:
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    return False


def version_of(folder: int, name: str) -> Version:
    """Return the version of a name in an open folder; empty if it is gone."""
    try:
        return _version(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except OSError:
        return ()


def last_change_ns(path: str) -> int:
    """Return the time of the last change of a path; if it is gone, of the nearest existing folder above."""
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        pass
    while (path := os.path.dirname(path)) != "/":
        with suppress(OSError):
            return os.lstat(path).st_mtime_ns
    return 0


def find_hard_links(root: str, max_entries: int) -> dict[tuple[int, int], list[str]]:
    """Return the paths below a folder of files with several hard links, by device and inode.

    Stops after about `max_entries` entries.
    """
    names: dict[tuple[int, int], list[str]] = {}
    waiting = [root]
    while waiting and max_entries > 0:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    max_entries -= 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        facts = entry.stat(follow_symlinks=False)
                        if facts.st_nlink > 1:
                            names.setdefault((facts.st_dev, facts.st_ino), []).append(entry.path)
        except OSError:
            continue  # not listable, or gone
    return names


@contextmanager
def _opened(folder: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(descriptor: int, size: int, limit: int) -> bytes:
    """Read a file to its end, or to one byte more than `limit`; `size` is the expected size."""
    pieces: list[bytes] = []
    left = limit + 1
    chunk = min(size + 1, _CHUNK_BYTES)
    while left > 0 and (piece := os.read(descriptor, min(left, chunk))):
        pieces.append(piece)
        left -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _link_target(folder: int, name: str) -> bytes:
    try:
        return os.fsencode(os.readlink(name, dir_fd=folder))
    except OSError as error:
        raise _Replaced from error


def _version(facts: os.stat_result) -> Version:
    return (
        facts.st_dev,
        facts.st_ino,
        facts.st_mode,
        facts.st_size,
        facts.st_mtime_ns,
        facts.st_ctime_ns,
    )


def _real_path(descriptor: int, path: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:
        return os.path.realpath(path)  # a system without /proc
