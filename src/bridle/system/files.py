"""Atomic writes of small files, and a lock between processes. Everything here blocks and raises OSError."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def write_atomically(path: Path, data: bytes, *, mode: int = PRIVATE_FILE, replace: bool = True) -> None:
    """Write a file atomically and durably: after a crash it has the old or the new content.

    Without `replace`, an existing file stays unchanged. Missing folders are created.
    """
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(draft, flags, PRIVATE_FILE), "wb") as file:
            os.fchmod(file.fileno(), mode)  # regardless of the umask
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(draft, path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
    finally:
        with suppress(OSError):
            os.unlink(draft)
    _sync_folder(path.parent)


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold a lock on a file against other processes, to read and replace it.

    The lock is a separate file next to it, because the file itself is replaced. It ends with the process.
    """
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
