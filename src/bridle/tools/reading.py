"""Lines of a text file with their numbers, read one by one: a file may be larger than memory."""

from io import BufferedReader
from threading import Event

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.edits import BOM

MAX_LINES = 10_000
MAX_LINE_BYTES = 64 * 1024

_STOP_INTERVAL = 1024  # lines between two looks at the stop event
_NOT_UTF8 = "\n[the file is not valid UTF-8: bytes that are no text are shown as \\xNN]"


class LineRange(Struct, frozen=True):
    """Which lines to show, counted from 1, both ends included; no end means the end of the file."""

    start: int = 1
    end: int | None = None


def is_binary(file: BufferedReader) -> bool:
    """Tell whether a file just opened starts like something that is not text."""
    return b"\0" in file.peek()


def read_numbered(file: BufferedReader, lines: LineRange, *, max_bytes: int, stop: Event) -> str:
    """Return lines as `12: text`; raises ToolError when there are none, too many or too long ones."""
    found: list[bytes] = []
    size = counted = 0
    while line := file.readline(MAX_LINE_BYTES):
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            # Kontekst's text; the hint says it in words.
            raise ToolError(
                "bufio.Scanner: token too long",
                hint=f"line {counted + 1} is longer than {MAX_LINE_BYTES} bytes and cannot be shown",
            )
        if not counted:
            line = line.removeprefix(BOM)
        counted += 1
        if counted % _STOP_INTERVAL == 0 and stop.is_set():
            raise ToolError("stopped")
        if counted < lines.start:
            continue
        if lines.end is not None and counted > lines.end:
            break
        size += len(line)
        if size > max_bytes:
            raise ToolError(
                f"lines {lines.start}-{counted} hold more than {max_bytes} bytes; read fewer lines at once"
            )
        found.append(line.removesuffix(b"\n").removesuffix(b"\r"))
        if lines.end is None and len(found) >= MAX_LINES:
            raise ToolError(
                f"file has more than {MAX_LINES} lines; specify start_line and end_line to read a range"
            )
    if not found:
        raise _no_lines(lines, counted)
    return _number(found, lines.start)


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
