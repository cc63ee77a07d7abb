"""Read lines of a text file with their numbers, one by one: a file may be larger than memory."""

from io import BufferedReader
from threading import Event
from typing import BinaryIO

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.edits import BOM

MAX_LINES = 10_000
MAX_LINE_BYTES = 64 * 1024
MAX_SHOWN_BYTES = 2000

_STOP_INTERVAL = 1024  # lines between two checks of the stop event
_CUT_NOTE = "\n[lines of more than 2000 bytes are cut; grep shows the part of a line around a match]"
_NOT_UTF8 = "\n[the file is not valid UTF-8: bytes that are not text are shown as \\xNN]"


class LineRange(Struct, frozen=True):
    """Which lines to show, counted from 1, both ends included; no end means the end of the file."""

    start: int = 1
    end: int | None = None

    @property
    def is_whole(self) -> bool:
        """True if the range is the whole file."""
        return self.start == 1 and self.end is None


def is_binary(file: BufferedReader) -> bool:
    """Return whether a file that was just opened starts with bytes that are not text."""
    return b"\0" in file.peek()


def read_numbered(file: BinaryIO, lines: LineRange, *, max_bytes: int, stop: Event) -> str:
    """Return lines as `12: text`, with long lines cut; raises ToolError when there are none or too many.

    A whole file must not have lines of more than 64 KiB, as in Kontekst; a range may.
    """
    found: list[bytes] = []
    size = counted = cut = 0
    while line := file.readline(MAX_LINE_BYTES):
        is_long = len(line) == MAX_LINE_BYTES and not line.endswith(b"\n")
        if is_long and lines.is_whole:
            raise _long_line(counted + 1)
        more = _skip_line(file, stop) if is_long else 0
        if not counted:
            line = line.removeprefix(BOM)
        counted += 1
        if counted % _STOP_INTERVAL == 0 and stop.is_set():
            raise ToolError("stopped")
        if counted < lines.start:
            continue
        if lines.end is not None and counted > lines.end:
            break
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        if len(line) > MAX_SHOWN_BYTES:
            line = _cut(line, more)
            cut += 1
        size += len(line) + 1
        if size > max_bytes:
            raise ToolError(
                f"lines {lines.start}-{counted} hold more than {max_bytes} bytes; read fewer lines at once"
            )
        found.append(line)
        if lines.end is None and len(found) >= MAX_LINES:
            raise ToolError(
                f"file has more than {MAX_LINES} lines; specify start_line and end_line to read a range"
            )
    if not found:
        raise _no_lines(lines, counted)
    return _number(found, lines.start) + (_CUT_NOTE if cut else "")


def _skip_line(file: BinaryIO, stop: Event) -> int:
    """Read to the end of a line and return how many bytes that was, without its ending."""
    skipped = 0
    while piece := file.readline(MAX_LINE_BYTES):
        skipped += len(piece.removesuffix(b"\n").removesuffix(b"\r"))
        if piece.endswith(b"\n"):
            break
        if stop.is_set():
            raise ToolError("stopped")
    return skipped


def _cut(line: bytes, more: int) -> bytes:
    end = MAX_SHOWN_BYTES
    while line[end] & 0xC0 == 0x80 and end > MAX_SHOWN_BYTES - 4:  # do not cut inside a character
        end -= 1
    return line[:end] + f"… [{len(line) - end + more} more bytes]".encode()


def _long_line(number: int) -> ToolError:
    # Kontekst's error text; the hint explains it.
    return ToolError(
        "bufio.Scanner: token too long",
        hint=f"line {number} is longer than {MAX_LINE_BYTES} bytes; with an end_line it is shown in part",
    )


def _no_lines(lines: LineRange, counted: int) -> ToolError:
    if lines.end is None:
        return ToolError(f"no lines starting from line {lines.start} (file has {counted} lines)")
    return ToolError(f"no lines in range {lines.start}-{lines.end} (file has {counted} lines)")


def _number(found: list[bytes], first: int) -> str:
    data = b"\n".join(found)
    note = ""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="backslashreplace")
        note = _NOT_UTF8
    width = len(str(first + len(found) - 1))
    return (
        "\n".join(f"{number:>{width}}: {line}" for number, line in enumerate(text.split("\n"), first)) + note
    )
