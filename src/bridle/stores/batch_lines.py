"""Find lines in a large append-only file without reading all of it.

A batch is what one append wrote. Every line of a batch except the last ends with MORE, a space, before its
newline, so the file itself shows where batches end:

```
{"seq":1,…}\\n            a batch of one
{"seq":2,…}␠\\n           ┐
{"seq":3,…}␠\\n           │ a batch of three: it counts as a whole or not at all
{"seq":4,…}\\n            ┘
{"seq":5,…}␠\\n{"seq":6   a torn tail: this batch was never finished
```

JSON allows the space, and the line without it is exactly what the codec made. Newlines inside texts are
escaped, so a newline always ends a line.
"""

import os
import re
from collections.abc import Iterator, Sequence

MORE = b" "
CHUNK_BYTES = 64 * 1024  # a pread of this size costs some 10 µs; a turn's records fit into a few
PROBE_BYTES = 4 * 1024
LARGEST_CHUNK_BYTES = 4 * 1024 * 1024

_SEQ = re.compile(rb'\{"seq":(\d{1,18}),')
_SEQ_BYTES = 32


def join_batch(lines: Sequence[bytes]) -> bytes:
    """Return the bytes that an append writes."""
    return (MORE + b"\n").join(lines) + b"\n"


def complete_end(fd: int, size: int, chunk_bytes: int = CHUNK_BYTES) -> int:
    """Return where the last finished batch ends; anything after it is a torn tail."""
    end = size
    while end > 0:
        start = max(0, end - chunk_bytes)
        overlap = min(1, start)  # also read the byte before the chunk: a newline may be its first byte
        block = os.pread(fd, end - start + overlap, start - overlap)
        newline = block.rfind(b"\n", overlap)
        while newline >= 0:
            if newline == 0 or block[newline - 1 : newline] != MORE:
                return start - overlap + newline + 1
            newline = block.rfind(b"\n", overlap, newline)
        end = start
    return 0


def lines_before(fd: int, end: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the lines that end at or before `end`, newest first; `end` is the end of a line.

    The text before a chunk's first newline is the end of a line that begins in an earlier chunk; it may be
    empty, when a chunk begins exactly at a newline.
    """
    if end == 0:
        return
    position = end - 1  # without the last line's newline
    rest = b""
    while position > 0:
        size = min(chunk_bytes, position)
        position -= size
        rest, *lines = (os.pread(fd, size, position) + rest).split(b"\n")
        for line in reversed(lines):
            yield line.removesuffix(MORE)
        if not lines:
            chunk_bytes = min(2 * chunk_bytes, LARGEST_CHUNK_BYTES)  # long lines are copied less often
    yield rest.removesuffix(MORE)


def lines_between(fd: int, start: int, end: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the lines from `start` to `end`, oldest first; both are ends of lines."""
    pieces: list[bytes] = []
    while start < end:
        block = os.pread(fd, min(chunk_bytes, end - start), start)
        if not block:
            return  # a repair shortened the file meanwhile
        start += len(block)
        *lines, rest = block.split(b"\n")
        for line in lines:
            pieces.append(line)
            yield b"".join(pieces).removesuffix(MORE)
            pieces = []
        pieces.append(rest)


def last_number(fd: int, end: int) -> int:
    """Return the number of the last line; lines without a number count on from the last one that has one."""
    unnumbered = 0
    for line in lines_before(fd, end):
        match = _SEQ.match(line)
        if match:
            return int(match[1]) + unnumbered
        unnumbered += 1
    return unnumbered


def offset_of(fd: int, end: int, seq: int) -> int:
    """Return where the first line numbered `seq` or more begins, or `end`.

    Numbers grow along the file, so this is a binary search: 26 probes for 40 MB, some 100 µs. Lines without
    a number are skipped.
    """
    low, high, found = 0, end, end
    while low < high:
        middle = (low + high) // 2
        start, number = _numbered_line(fd, middle, high)
        if number is None:
            high = middle
        elif number >= seq:
            found, high = start, middle
        else:
            low = start + 1
    return found


def _numbered_line(fd: int, position: int, end: int) -> tuple[int, int | None]:
    """Return the start and number of the first numbered line that begins in [position, end)."""
    start = _line_start(fd, position, end)
    while start < end:
        match = _SEQ.match(os.pread(fd, _SEQ_BYTES, start))
        if match:
            return start, int(match[1])
        start = _line_start(fd, start + 1, end)
    return end, None


def _line_start(fd: int, position: int, end: int) -> int:
    """Return where the first line at or after `position` begins, or `end`."""
    if position == 0:
        return 0
    position -= 1
    size = PROBE_BYTES
    while position < end:
        block = os.pread(fd, min(size, end - position), position)
        newline = block.find(b"\n")
        if newline >= 0:
            return position + newline + 1
        if not block:
            break
        position += len(block)
        size = min(2 * size, LARGEST_CHUNK_BYTES)
    return end
