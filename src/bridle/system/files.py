"""Small files, written whole or not at all, by one process at a time. All of it blocks and raises OSError."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def write_whole(path: Path, data: bytes, *, mode: int = PRIVATE_FILE, replace: bool = True) -> None:
    """Write a file in one step, durably: after a crash it is the old or the new one.

    Without `replace` a file that is there already stays as it is. Folders that are missing are made.
    """
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(draft, flags, PRIVATE_FILE), "wb") as file:
            os.fchmod(file.fileno(), mode)  # whatever the umask says
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
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing a file until this one has read and replaced it.

    The lock is a file beside it, for the file itself is replaced; it ends with the process.
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
