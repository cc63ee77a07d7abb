"""What lies at a path, seen without following any link and without waiting for anybody.

A folder is opened first and then asked for its real path; names are looked up inside the open folder.
So whoever swaps a folder for a link meanwhile is noticed, and nothing outside is read or changed.
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
"""What changes when a file does: device, inode, mode, size, times of the last change in it and to it."""

_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC
# Passing through a folder needs no right to list it where the system can say so.
_PASS = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
_SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system (FAT) ticks every two seconds
_TRIES = 3
_CHUNK_BYTES = 16 * 1024 * 1024

NO_FOLDER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""The refusals that say that nothing can lie at a path, for want of a folder on the way."""

UNSEEN = FileState("other", kept=False)
"""Stands for what cannot be looked at."""


class Found(Struct, frozen=True):
    """What lies at a path."""

    state: FileState | None = None
    """None: nothing."""
    version: Version = ()
    settled: bool = True
    """A later change shows in the version; one that comes too soon after another may not."""
    shared: tuple[int, int] | None = None
    """Device and inode of a file that has other names too."""


NOTHING = Found()


class Sight:
    """Looks at files and keeps their content as blobs."""

    def __init__(
        self,
        blobs: Blobs,
        max_file_bytes: int = MAX_FILE_BYTES,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Describe files above a size only, without their content."""
        self._blobs = blobs
        self._max_file_bytes = max_file_bytes
        self.now_ns = now_ns

    def look(self, folder: int, name: str, *, known: Found = NOTHING, max_bytes: int | None = None) -> Found:
        """Return what a name in an open folder stands for; `known` again when it did not change.

        Raises OSError when the folder may not be looked into, StoreError when content cannot be kept.
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
            except _Swapped:
                continue
            is_shared = facts.st_nlink > 1 and state.kind == "file"
            return Found(
                state,
                version,
                self.now_ns() - facts.st_ctime_ns > _SETTLED_NS,
                (facts.st_dev, facts.st_ino) if is_shared else None,
            )
        return Found(UNSEEN)

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
                    raise _Swapped
                data = _read(descriptor, facts.st_size, limit)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOENT, errno.ENXIO):
                raise _Swapped from error
            return described  # not ours to read: it can be told from another one, not brought back
        if len(data) > limit:
            return described
        return FileState("file", described.mode, self._blobs.put(data), len(data))


class _Swapped(Exception):
    """Something else lies there than a moment ago."""


class Folders:
    """Opens folders by their real path, one at a time: neighbours in a sorted list share one."""

    def __init__(self) -> None:
        self._path = ""
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def at(self, path: str) -> int | None:
        """Return the open folder, until the next one is asked for; None when there is no such folder.

        Raises OSError when it may not be opened.
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


def pass_folder(path: str) -> tuple[int, str]:
    """Open a folder, following links; return it, to be closed by the caller, and its real path."""
    descriptor = os.open(path, _PASS)
    try:
        return descriptor, _real_path(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise


def open_folder(path: str, *, to_list: bool = False) -> int | None:
    """Open the folder that has this real path, to be closed by the caller; None when there is none.

    Raises OSError when it may not be opened.
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
    """Tell whether somebody has a file open for writing; False where the system does not say.

    A read lease is refused while there is a writer. One that is granted is given back at once; whoever
    opens the file for writing just then waits that long, and the signal for us is one that is ignored.
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
    """Return the version of what a name in an open folder stands for; none when it is gone."""
    try:
        return _version(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except OSError:
        return ()


def last_touched_ns(path: str) -> int:
    """Return when the last change happened to a path; for one that is gone, in the folder it is gone from."""
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        pass
    while (path := os.path.dirname(path)) != "/":
        with suppress(OSError):
            return os.lstat(path).st_mtime_ns
    return 0


def shared_files(root: str, max_entries: int) -> dict[tuple[int, int], list[str]]:
    """Return the names below a folder of each file that has several, by device and inode."""
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
            continue  # what may not be listed, or is gone
    return names


@contextmanager
def _opened(folder: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(descriptor: int, size: int, limit: int) -> bytes:
    """Read a file to its end, or to one byte more than the limit; the size is what to expect."""
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
        raise _Swapped from error


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
