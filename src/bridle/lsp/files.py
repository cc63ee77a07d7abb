"""Reads text files for language servers, up to a size limit. Everything here blocks."""

import os
import stat

from msgspec import Struct

from bridle.core.errors import ToolError

MAX_FILE_BYTES = 4 * 1024 * 1024
BYTE_ORDER_MARK = "\ufeff"

Stamp = tuple[int, int, int]


class Content(Struct, frozen=True):
    """The content of a file."""

    text: str
    stamp: Stamp

    @property
    def sent(self) -> str:
        """The text sent to servers: without the byte order mark, which positions do not count."""
        return self.text.removeprefix(BYTE_ORDER_MARK)


def stat_stamp(path: str) -> Stamp | None:
    """Return a stamp that changes with the file; None if there is no regular file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def read(path: str) -> Content | None:
    """Read a text file; None if there is none. Raises ToolError if it is too large or no UTF-8 text."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} cannot be read: {error}") from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise ToolError(f"{path} is not a file")
    with open(descriptor, "rb") as file:
        if found.st_size > MAX_FILE_BYTES:
            raise ToolError(f"{path} is too large for a language server: {found.st_size} bytes")
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"{path} is too large for a language server: it grows")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"{path} is not UTF-8 text") from error
    return Content(text, (found.st_mtime_ns, found.st_size, found.st_ino))
