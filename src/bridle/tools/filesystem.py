"""Files and folders below a working directory, opened without following any symbolic link.

Each step of a resolved path is opened with O_NOFOLLOW, relative to the folder before it. If another
process replaces a folder with a link after the path was resolved, the result is an error, never a file
outside. Only regular files are opened: a FIFO would block, and a device may do anything.
"""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from itertools import count, islice
from threading import Event
from typing import Literal

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.paths import ResolvedPath, link_error, printable

Version = tuple[int, int, int, int]
"""Device, inode, size and modification time: one of them changes when a file is replaced or written."""

Expected = Version | None | Literal["any"]
"""What must exist at the target of a write: a file of this version, nothing (None), or anything."""

_PROTECTED = frozenset({".git", ".bridle"})
_TEMPORARY = re.compile(r"\.bridle-(?P<pid>\d{1,9})-\d+\.tmp")
_MAX_SWEPT = 5000  # names in a folder, some 2 ms
_FRESH_S = 60.0
_OLD_S = 86_400.0  # no write takes a day
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _NO_LINK | os.O_DIRECTORY
# Where the system has O_PATH, passing through a folder needs no right to list it.
_PASS = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_file(place: ResolvedPath) -> BufferedReader:
    """Open a regular file for reading; raises OSError, or ToolError for a link or anything but a file."""
    with _parent(place) as (folder, name):
        _require_file(place, os.stat(name, dir_fd=folder, follow_symlinks=False))
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK, dir_fd=folder)
    try:
        _require_file(place, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


@contextmanager
def open_folder(place: ResolvedPath) -> Iterator[int]:
    """Open a folder for listing and yield its descriptor; raises OSError, or ToolError for a link."""
    folder = _walk(place, place.parts)
    try:
        descriptor = open_subfolder(".", folder)
    finally:
        os.close(folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_subfolder(name: str, folder: int) -> int:
    """Open a subfolder for listing; the caller closes it; raises OSError, also for a link."""
    return os.open(name, os.O_RDONLY | _FOLDER, dir_fd=folder)


def file_mode(place: ResolvedPath) -> int:
    """Return the `stat` mode of a place; raises OSError or ToolError."""
    if not place.parts:
        return stat.S_IFDIR
    with _parent(place) as (folder, name):
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode


def version_of(found: os.stat_result) -> Version:
    """Return the values that differ once a file was changed."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def check_unprotected(path: str) -> None:
    """Raise ToolError for what no tool may change under any rule: git's files and Bridle's settings."""
    if not _PROTECTED.isdisjoint(path.casefold().split("/")):
        raise ToolError(f"{printable(path)} is protected; ask the user to change it")


def replace_file(
    place: ResolvedPath,
    data: bytes,
    *,
    stop: Event,
    expected: Expected = "any",
    keep: Callable[[str], None] = lambda path: None,
) -> None:
    """Write new content to a place atomically; see `replacement`."""
    with open_replacement(place, stop=stop, expected=expected, keep=keep) as descriptor:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


@contextmanager
def open_replacement(
    place: ResolvedPath, *, stop: Event, expected: Expected, keep: Callable[[str], None]
) -> Iterator[int]:
    """Yield a descriptor to write to, then put the file in place atomically.

    A crash leaves either the old or the new file. Missing folders are created. An existing file keeps its
    mode and, where Bridle may set it, its owner. A file that is no longer the expected one is not changed.
    `keep` is called with the absolute path of everything that is about to change. Raises OSError or
    ToolError, and then leaves nothing behind.
    """
    check_unprotected(place.real)
    _check_stop(place, stop)
    made: list[int] = []
    try:
        with _parent(place, _FolderCreation(keep, made)) as (folder, name), _held(place, folder, name) as old:
            _sweep(folder)
            temporary, descriptor = _create_temporary(folder, 0o644 if old is None else 0o600)
            try:
                try:
                    yield descriptor
                    _dress(descriptor, old)
                finally:
                    os.close(descriptor)
                _check_stop(place, stop)
                keep(os.path.join(place.root, place.real))
                _check_expected(place, folder, name, expected)
                _put(place, folder, temporary, name, is_new=expected is None)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
    except BaseException:
        _remove_folders(place, made)
        raise


def remove_file(place: ResolvedPath, *, stop: Event, expected: Version, keep: Callable[[str], None]) -> None:
    """Delete a file if it is the expected one; raises OSError or ToolError."""
    check_unprotected(place.real)
    _check_stop(place, stop)
    with _parent(place) as (folder, name), _held(place, folder, name):
        keep(os.path.join(place.root, place.real))
        _check_expected(place, folder, name, expected)
        os.unlink(name, dir_fd=folder)


def error_reason(error: OSError) -> str:
    """Return the system's error text with the wording of Kontekst's errors."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


class _FolderCreation(Struct, frozen=True):
    """How to create missing folders."""

    keep: Callable[[str], None]
    made: list[int]
    """The depths below the root of the folders that were created."""


@contextmanager
def _parent(place: ResolvedPath, making: _FolderCreation | None = None) -> Iterator[tuple[int, str]]:
    if not place.parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    *folders, name = place.parts
    folder = _walk(place, folders, making)
    try:
        yield folder, name
    finally:
        os.close(folder)


def _walk(place: ResolvedPath, parts: Sequence[str], making: _FolderCreation | None = None) -> int:
    """Open the folders from the root down; the caller closes the descriptor of the last one."""
    folder = os.open(place.root, _PASS & ~os.O_NOFOLLOW)
    for depth, part in enumerate(parts, start=1):
        try:
            if making is not None and not _exists(part, folder):
                making.keep(os.path.join(place.root, *parts[:depth]))
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=folder)
                    making.made.append(depth)
            below = os.open(part, _PASS, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(part, folder):
                raise link_error(place.name) from error
            if making is not None:
                parent = printable(os.path.dirname(place.shown))
                raise ToolError(
                    f"failed to create directory: mkdir {parent}: {error_reason(error)}"
                ) from error
            raise
        finally:
            os.close(folder)
        folder = below
    return folder


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _remove_folders(place: ResolvedPath, depths: Sequence[int]) -> None:
    """Remove folders that were created for a failed write, unless they are no longer empty."""
    for depth in reversed(depths):
        with suppress(OSError, ToolError):
            folder = _walk(place, place.parts[: depth - 1])
            try:
                os.rmdir(place.parts[depth - 1], dir_fd=folder)
            finally:
                os.close(folder)


def _is_link(name: str, folder: int) -> bool:
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


def _require_file(place: ResolvedPath, found: os.stat_result) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFREG:
        return
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if kind == stat.S_IFLNK:
        raise link_error(place.name)
    raise ToolError(f"{printable(place.name)} is {_KINDS.get(kind, 'something else')}, not a file")


@contextmanager
def _held(place: ResolvedPath, folder: int, name: str) -> Iterator[os.stat_result | None]:
    """Yield the `stat` result of the file to be replaced, locked against other replacements of this kind.

    The file is opened for writing, because a rename alone would ignore that it is read-only. Another
    replacement that opens it later finds it locked; one that opens its successor finds a version other
    than the expected one.
    """
    try:
        _require_file(place, os.stat(name, dir_fd=folder, follow_symlinks=False))
        descriptor = os.open(name, os.O_WRONLY | os.O_NONBLOCK | _NO_LINK, dir_fd=folder)
    except FileNotFoundError:
        yield None
        return
    try:
        found = os.fstat(descriptor)
        _require_file(place, found)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ToolError(
                f"{printable(place.name)} is being changed by another program; read it again"
            ) from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        yield found
    finally:
        os.close(descriptor)


def _create_temporary(folder: int, mode: int) -> tuple[str, int]:
    """Create a temporary file beside the target, with a name that no leftover of a crash has."""
    for number in count():
        name = f".bridle-{os.getpid()}-{number}.tmp"
        with suppress(FileExistsError):
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, mode, dir_fd=folder)
    raise AssertionError("count() does not end")


def _sweep(folder: int) -> None:
    """Remove temporary files of killed processes from a folder's first `_MAX_SWEPT` entries."""
    with suppress(OSError):
        listing = open_subfolder(".", folder)
        try:
            with os.scandir(listing) as entries:
                for entry in islice(entries, _MAX_SWEPT):
                    match = _TEMPORARY.fullmatch(entry.name)
                    if match and _is_leftover(int(match["pid"]), entry.stat(follow_symlinks=False)):
                        os.unlink(entry.name, dir_fd=folder)
        finally:
            os.close(listing)


def _is_leftover(pid: int, found: os.stat_result) -> bool:
    """Return whether no process writes to a temporary file any more.

    A process that is not visible may run in another container, and a visible one may have the reused PID
    of a dead one. Therefore the file's age counts too.
    """
    age_s = time.time() - found.st_mtime
    if not stat.S_ISREG(found.st_mode) or age_s < _FRESH_S:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return age_s > _OLD_S


def _dress(descriptor: int, old: os.stat_result | None) -> None:
    """Give a new file the owner and the mode of the file that it replaces."""
    if old is None:
        return
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):  # only root may give a file away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, old.st_mode & 0o777)  # like a write in place, this drops set-user-id


def _check_stop(place: ResolvedPath, stop: Event) -> None:
    if stop.is_set():
        raise ToolError(f"stopped before {printable(place.name)} was changed")


def _check_expected(place: ResolvedPath, folder: int, name: str, expected: Expected) -> None:
    if expected == "any":
        return
    try:
        found = version_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        found = None
    if found != expected:
        verb = "created" if expected is None else "changed"
        raise ToolError(f"{printable(place.name)} was {verb} by another program just now; read it again")


def _put(place: ResolvedPath, folder: int, temporary: str, name: str, *, is_new: bool) -> None:
    """Give the finished file its name; a new file never replaces an existing one."""
    if not is_new:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError as error:
        raise ToolError(
            f"{printable(place.name)} was created by another program just now; read it again"
        ) from error
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # Claim the name first, so that no other process can create it before the rename.
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o644, dir_fd=folder))
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
