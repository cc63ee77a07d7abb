"""Files and folders below a working directory, opened without following any symbolic link.

Each step of a resolved path is opened relative to the folder before it with O_NOFOLLOW. Whoever swaps
a folder for a link after the path was resolved gets an error, never a file outside. Only regular files
are opened: a FIFO would block, a device may do anything.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from itertools import count
from threading import Event

from bridle.core.errors import ToolError
from bridle.tools.paths import Place, link_error, printable

Version = tuple[int, int, int, int]
"""What changes when a file is replaced or written to: device, inode, size, time of the last change."""

_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _NO_LINK | os.O_DIRECTORY
# Passing through a folder needs no right to list it where the system can say so.
_PASS = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_file(place: Place) -> BufferedReader:
    """Open a regular file for reading; raises OSError, or ToolError for a link and for what is no file."""
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
def open_folder(place: Place) -> Iterator[int]:
    """Open a folder for listing, as a descriptor; raises OSError, or ToolError for a link."""
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
    """Open a folder inside an open one for listing; the caller closes it; raises OSError, also for a link."""
    return os.open(name, os.O_RDONLY | _FOLDER, dir_fd=folder)


def file_mode(place: Place) -> int:
    """Return what lies at a place, as a `stat` mode; raises OSError or ToolError."""
    if not place.parts:
        return stat.S_IFDIR
    with _parent(place) as (folder, name):
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode


def version_of(found: os.stat_result) -> Version:
    """Return what to compare to notice that a file was changed."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def replace_file(place: Place, data: bytes, *, stop: Event, expected: Version | None = None) -> None:
    """Put new content at a place in one step, so that a crash leaves the old file or the new one.

    Missing folders are made. A file that exists keeps its mode and, where we may set it, its owner.
    With `expected`, a file that has another version by now is left alone. Raises OSError or ToolError.
    """
    with _parent(place, create=True) as (folder, name):
        old = _check_writable(place, folder, name)
        temporary, descriptor = _create_temporary(folder, 0o644 if old is None else 0o600)
        try:
            try:
                _fill(descriptor, data, old)
            finally:
                os.close(descriptor)
            if stop.is_set():
                raise ToolError(f"stopped before {printable(place.name)} was changed")
            if expected is not None and _version_now(folder, name) != expected:
                raise ToolError(
                    f"{printable(place.name)} was changed by somebody else just now; read it again"
                )
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise


def reason(error: OSError) -> str:
    """Say why the system refused, in the words of Kontekst's error texts."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


@contextmanager
def _parent(place: Place, *, create: bool = False) -> Iterator[tuple[int, str]]:
    if not place.parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    *folders, name = place.parts
    folder = _walk(place, folders, create=create)
    try:
        yield folder, name
    finally:
        os.close(folder)


def _walk(place: Place, parts: Sequence[str], *, create: bool = False) -> int:
    """Go down from the root step by step; the caller closes the descriptor of the last folder."""
    folder = os.open(place.root, _PASS & ~os.O_NOFOLLOW)
    for part in parts:
        try:
            below = _open_or_make(part, folder) if create else os.open(part, _PASS, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(part, folder):
                raise link_error(place.name) from error
            if create:
                parent = printable(os.path.dirname(place.shown))
                raise ToolError(f"failed to create directory: mkdir {parent}: {reason(error)}") from error
            raise
        finally:
            os.close(folder)
        folder = below
    return folder


def _open_or_make(name: str, folder: int) -> int:
    with suppress(FileNotFoundError):
        return os.open(name, _PASS, dir_fd=folder)
    with suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=folder)
    return os.open(name, _PASS, dir_fd=folder)


def _is_link(name: str, folder: int) -> bool:
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


def _require_file(place: Place, found: os.stat_result) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFREG:
        return
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if kind == stat.S_IFLNK:
        raise link_error(place.name)
    raise ToolError(f"{printable(place.name)} is {_KINDS.get(kind, 'something else')}, not a file")


def _check_writable(place: Place, folder: int, name: str) -> os.stat_result | None:
    """Return the facts of the file to be replaced; a rename alone would ignore that it is read-only."""
    try:
        _require_file(place, os.stat(name, dir_fd=folder, follow_symlinks=False))
        descriptor = os.open(name, os.O_WRONLY | os.O_NONBLOCK | _NO_LINK, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(descriptor)
        _require_file(place, found)
        return found
    finally:
        os.close(descriptor)


def _create_temporary(folder: int, mode: int) -> tuple[str, int]:
    """Create a file beside the target, under a name that a leftover of a crash does not have."""
    for number in count():
        name = f".bridle-{os.getpid()}-{number}.tmp"
        with suppress(FileExistsError):
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, mode, dir_fd=folder)
    raise AssertionError("count() does not end")


def _fill(descriptor: int, data: bytes, old: os.stat_result | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    if old is None:
        return
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):  # only root may give a file away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, old.st_mode & 0o777)  # like a write in place, this drops set-user-id


def _version_now(folder: int, name: str) -> Version | None:
    try:
        return version_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return None
