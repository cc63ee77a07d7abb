"""The small files of comms: written atomically, and read only if no other user can change them."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bridle.core.errors import ConfigError
from bridle.system import files
from bridle.system.files import PRIVATE_FILE, write_atomically

PRIVATE = 0o077
"""The permission bits that other users may not have on a secret: all."""
UNCHANGED = 0o022
"""The permission bits that other users may not have on a trusted file: write."""


def read_file(path: Path, max_bytes: int, *, forbidden: int) -> bytes | None:
    """Return a file's content, None if there is no file; blocking.

    Raises ConfigError if it is a link or not a regular file, larger than `max_bytes`, or other users have
    forbidden rights.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"{path}: is not a regular file")
        if status.st_mode & forbidden:
            verb = "read" if forbidden == PRIVATE else "change"
            raise ConfigError(f"{path}: others can {verb} it", hint=f"chmod 600 {path}")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise ConfigError(f"{path}: is larger than {max_bytes} bytes")
    return data


def write_file(path: Path, data: bytes, *, mode: int = PRIVATE_FILE, replace: bool = True) -> None:
    """Write a whole file atomically; blocking; raises ConfigError.

    Without `replace`, an existing file stays unchanged.
    """
    try:
        write_atomically(path, data, mode=mode, replace=replace)
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file against changes by other processes; blocking; raises ConfigError."""
    with ExitStack() as locks:
        try:
            locks.enter_context(files.lock_file(path))
        except OSError as error:
            raise _unwritable(path, error) from error
        yield


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{path}: cannot be written: {error.strerror}")
