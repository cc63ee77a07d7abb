"""Open, lock and append to a file of line batches; `batch_lines` reads such files."""

import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from msgspec import Struct

from bridle.core.codec import GENESIS, decode_record
from bridle.stores.batch_lines import join_batch, lines_before


class FileEnd(Struct, frozen=True):
    """Where a file ends: the offset, and the number and hash of the last record."""

    offset: int = 0
    seq: int = 0
    hash: str = GENESIS


@contextmanager
def open_for_reading(path: Path) -> Iterator[int | None]:
    """Open a file for reading; yields None if it does not exist."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def open_locked(path: Path, *, make: bool = False) -> Iterator[int | None]:
    """Open a file for appending under an exclusive lock; None if it does not exist and `make` is false.

    Raises BlockingIOError while another process holds the lock. The lock ends with the process.
    """
    fd = lock_file(path, make=make)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def lock_file(path: Path, *, make: bool) -> int | None:
    """Open and lock a file, which the caller closes; None if it does not exist and `make` is false.

    Raises BlockingIOError while another process holds the lock.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
    if make:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags |= os.O_CREAT
    while True:
        try:
            fd = os.open(path, flags, 0o600)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
        except FileNotFoundError:
            pass  # deleted between open and lock: anything written to it now would be lost
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def end_at(fd: int, offset: int) -> FileEnd:
    """Return the end of a file that ends at `offset`; raises StoreCorrupt if no record ends there."""
    if offset == 0:
        return FileEnd()
    record = decode_record(next(lines_before(fd, offset)))
    return FileEnd(offset, record.seq, record.hash)


def still_has_end(fd: int, offset: int, end: FileEnd) -> bool:
    """Return True if a file that ends at `offset` still has the record that it once ended with."""
    if end.offset == 0:
        return True
    tail = b'%b"}\n' % end.hash.encode()
    return end.offset <= offset and os.pread(fd, len(tail), max(0, end.offset - len(tail))) == tail


def append_batch(fd: int, offset: int, lines: Sequence[bytes], sync: Literal["normal", "full"]) -> int:
    """Append all lines or none; return the new size of the file; raises OSError."""
    data = join_batch(lines)
    try:
        if os.write(fd, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if sync == "full":
            getattr(os, "fdatasync", os.fsync)(fd)  # macOS has no fdatasync
    except BaseException:
        os.ftruncate(fd, offset)
        raise
    return offset + len(data)


def sync_directory(path: Path) -> None:
    """Make a new file's directory entry survive a power cut."""
    fd = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def cut_torn(fd: int, offset: int, size: int, torn: Path) -> None:
    """Move the bytes after `offset` to the file `torn`."""
    with open(torn, "ab", opener=open_private) as torn_file:
        torn_file.write(os.pread(fd, size - offset, offset))
    os.ftruncate(fd, offset)


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file's content, so that after a crash it has either the old or the new content."""
    draft = path.with_name(f"{path.name}.draft")
    with open(draft, "wb", opener=open_private) as file:
        file.write(data)
    os.replace(draft, path)


def open_private(path: str, flags: int) -> int:
    """Open a file that only its owner may read; an `opener` for `open`."""
    return os.open(path, flags, 0o600)
