"""Reading and writing the small text files a user keeps, without being hurt by strange ones.

A FIFO does not block, a device or a giant file is refused, and a project's link that leads out of
the project is not followed: its text might be somebody's key on its way to a model.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from bridle.core.errors import ConfigError
from bridle.system import files
from bridle.system.files import write_whole

MAX_TEXT_BYTES = 1024 * 1024  # a text that people write by hand is far smaller


class Head(Struct, frozen=True):
    """The beginning of a file, and how long the whole of it is."""

    data: bytes
    size_bytes: int


def read_text(path: Path, *, within: Path | None = None) -> str | None:
    """Return a whole file, or None when there is none; raises ConfigError naming the file.

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
    """Return up to `limit_bytes` of a regular file, or None when there is none; raises ConfigError."""
    real = os.path.realpath(path)
    if within is not None and not Path(real).is_relative_to(os.path.realpath(within)):
        raise ConfigError(f"{path}: leads out of the project to {real}", hint="replace the link by a file")
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
        # One byte more than asked for: some file systems report a size of zero.
        data = _read(descriptor, limit_bytes + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    return Head(data[:limit_bytes], max(status.st_size, len(data)))


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step, readable by its owner only; raises ConfigError.

    A link is kept and what it points to is replaced. After a crash the file is the old or the new one.
    """
    try:
        write_whole(Path(os.path.realpath(path)), text.encode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing a file until this one has replaced it; raises ConfigError."""
    with ExitStack() as held:
        try:
            held.enter_context(files.locked(path))
        except OSError as error:
            raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
        yield


def _read(descriptor: int, limit_bytes: int) -> bytes:
    pieces = []
    while limit_bytes > 0 and (piece := os.read(descriptor, limit_bytes)):
        pieces.append(piece)
        limit_bytes -= len(piece)
    return b"".join(pieces)
