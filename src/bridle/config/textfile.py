"""Read and write small text files of the user safely.

A FIFO does not block, a device or a huge file is rejected, and a project's link that leads out of the project
is not followed: its target might be a secret key, which would then be sent to a model.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from bridle.core.errors import ConfigError
from bridle.system import files
from bridle.system.files import write_atomically

MAX_TEXT_BYTES = 1024 * 1024  # a text written by hand is far smaller


class Head(Struct, frozen=True):
    """The first bytes of a file, and the size of the whole file."""

    data: bytes
    size_bytes: int


def read_text(path: Path, *, within: Path | None = None) -> str | None:
    """Return a whole file, or None if it does not exist; raises ConfigError naming the file.

    With `within`, a link that leads out of that folder is an error.
    """
    head = read_head(path, MAX_TEXT_BYTES, within=within)
    if head is None:
        return None
    if head.size_bytes > MAX_TEXT_BYTES:
        raise ConfigError(f"{path}: is larger than 1 MiB")
    try:
        return head.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = head.data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: is not UTF-8 text (byte 0x{head.data[error.start]:02x})",
            hint="save the file as UTF-8",
        ) from error


def read_head(path: Path, limit_bytes: int, *, within: Path | None = None) -> Head | None:
    """Return up to `limit_bytes` of a regular file, or None if it does not exist; raises ConfigError."""
    real = os.path.realpath(path)
    if within is not None and not Path(real).is_relative_to(os.path.realpath(within)):
        raise ConfigError(
            f"{path}: points outside the project, to {real}", hint="replace the link with a file"
        )
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"{path}: is not a regular file")
        # One byte more than requested: some file systems report a size of zero.
        data = _read(descriptor, limit_bytes + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    return Head(data[:limit_bytes], max(status.st_size, len(data)))


def write_text(path: Path, text: str) -> None:
    """Replace a file atomically, readable by its owner only; raises ConfigError.

    A link is kept and its target is replaced. After a crash the file is the old or the new one.
    """
    try:
        write_atomically(Path(os.path.realpath(path)), text.encode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Prevent other processes from changing a file inside the `with` block; raises ConfigError."""
    with ExitStack() as locks:
        try:
            locks.enter_context(files.lock_file(path))
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
        yield


def _read(descriptor: int, limit_bytes: int) -> bytes:
    pieces = []
    while limit_bytes > 0 and (piece := os.read(descriptor, limit_bytes)):
        pieces.append(piece)
        limit_bytes -= len(piece)
    return b"".join(pieces)
