"""The lines that ripgrep found: read from its JSON stream, checked against the files, and formatted.

```
rg --json ──▶ read_matches ──▶ {path: [Line, …]} ──▶ confirmed ──▶ show
              counts, checks      cut around            opened without
              and drops           the match             following links
```

ripgrep opens files by their path. If a folder was replaced by a link to the outside at that moment, it
read a different file. So a line is shown only if the file, opened step by step without following links,
has the same bytes at the same offset.
"""

import os
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from threading import Event

from msgspec import Raw, Struct, ValidationError, field
from msgspec.json import Decoder

from bridle.core.errors import ToolError
from bridle.tools.filesystem import open_file
from bridle.tools.numbered_lines import is_binary
from bridle.tools.paths import ResolvedPath, printable

MAX_LINE_BYTES = 500
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_LEAD_BYTES = 150  # shown before the match in a line that is cut

_FIRST_START = re.compile(rb'"start":(\d+)')
_CUT_START = re.compile(rb"\A[\x80-\xbf]{1,3}")
_CUT_END = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,2}\Z")


class MatchLine(Struct, frozen=True):
    """A line, or the part of a long line around its match."""

    number: int
    offset: int
    """The offset of `data` in the file, in bytes."""
    data: bytes
    is_match: bool
    cut_before: bool = False
    cut_after: bool = False


class Matches(Struct):
    """The lines found, by path, in the order of the stream."""

    files: dict[str, list[MatchLine]]
    count: int = 0
    """The number of matching lines; of files when one line per file is requested."""
    is_cut: bool = False
    too_long: int = 0
    """The number of messages that were dropped because they were too long."""
    timed_out: bool = False


class MatchFilter(Struct, frozen=True):
    """Which of the found lines to keep."""

    limit: int
    context: int
    accepts: Callable[[str], bool]
    """Returns whether a path may be shown."""
    max_message_bytes: int = MAX_MESSAGE_BYTES


class _Text(Struct):
    text: str | None = None
    base64: str | None = field(default=None, name="bytes")

    @property
    def data(self) -> bytes:
        return b64decode(self.base64) if self.base64 is not None else (self.text or "").encode()


class _Found(Struct):
    path: _Text | None = None
    lines: _Text | None = None
    line_number: int | None = None
    absolute_offset: int = 0
    submatches: Raw = Raw(b"")


class _Message(Struct):
    type: str
    data: _Found


_DECODER = Decoder(_Message)


def read_matches(chunks: Iterator[bytes], stop: Event, wanted: MatchFilter) -> Matches:
    """Collect lines until there are more than `wanted.limit` matches."""
    found = Matches({})
    for raw in _lines(chunks, found, wanted.max_message_bytes):
        try:
            message = _DECODER.decode(raw)
        except ValidationError:  # the summary that ends the stream
            continue
        if message.type not in ("match", "context") or message.data.path is None:
            continue
        path = os.fsdecode(message.data.path.data).removeprefix("./")
        if not wanted.accepts(path):
            continue
        if message.type == "match":
            if found.count == wanted.limit:
                found.is_cut = True
                break
            found.count += 1
        found.files.setdefault(path, []).append(_line(message))
    found.timed_out = stop.is_set()
    found.files = {
        path: kept for path, lines in found.files.items() if (kept := _near(lines, wanted.context))
    }
    return found


def _lines(chunks: Iterator[bytes], found: Matches, max_bytes: int) -> Iterator[bytes]:
    """Split the stream into messages; a message that is too long is counted and dropped."""
    rest: list[bytes] = []
    size = 0
    for chunk in chunks:
        *ended, last = chunk.split(b"\n")
        for piece in ended:
            if size + len(piece) <= max_bytes:
                yield b"".join([*rest, piece])
            else:
                found.too_long += 1
            rest, size = [], 0
        size += len(last)
        if size <= max_bytes:
            rest.append(last)
        else:
            rest = []


def _line(message: _Message) -> MatchLine:
    found = message.data
    data = found.lines.data if found.lines is not None else b""
    data = data.removesuffix(b"\n").removesuffix(b"\r")
    is_match = message.type == "match"
    number = found.line_number or 0
    if len(data) <= MAX_LINE_BYTES:
        return MatchLine(number, found.absolute_offset, data, is_match)
    start = _FIRST_START.search(found.submatches)
    begin = max(0, min(int(start[1]) if start else 0, len(data)) - _LEAD_BYTES)
    begin = 0 if begin < _LEAD_BYTES else begin
    part = data[begin : begin + MAX_LINE_BYTES]
    if begin and (cut := _CUT_START.match(part)):
        begin, part = begin + len(cut[0]), part[len(cut[0]) :]
    cut_after = begin + len(part) < len(data)
    if cut_after:
        part = _CUT_END.sub(b"", part)
    return MatchLine(number, found.absolute_offset + begin, part, is_match, begin > 0, cut_after)


def _near(lines: list[MatchLine], context: int) -> list[MatchLine]:
    """Drop the context lines of a match that is not shown."""
    last = max((line.number for line in lines if line.is_match), default=None)
    return [] if last is None else [line for line in lines if line.number <= last + context]


def confirm_matches(root: str, files: dict[str, list[MatchLine]], stop: Event) -> dict[str, list[MatchLine]]:
    """Return the files, sorted by path, that are text and have these lines; no link is followed."""
    kept: dict[str, list[MatchLine]] = {}
    for path in sorted(files, key=os.fsencode):
        if stop.is_set():
            break
        try:
            with open_file(
                ResolvedPath(root=root, name=path, real=path, shown=os.path.join(root, path))
            ) as file:
                descriptor = file.fileno()
                if not is_binary(file) and all(
                    os.pread(descriptor, len(line.data), line.offset) == line.data for line in files[path]
                ):
                    kept[path] = files[path]
        except (OSError, ToolError):
            continue
    return kept


def format_matches(path: str, lines: list[MatchLine]) -> str:
    """Format a file's lines below its name: `12: text` for a match, `11- text` for a line around it."""
    shown = [printable(path)]
    for line in lines:
        text = line.data.decode(errors="backslashreplace")
        before, after = "…" * line.cut_before, "…" * line.cut_after
        shown.append(f"{line.number}{':' if line.is_match else '-'} {before}{text}{after}")
    return "\n".join(shown)
