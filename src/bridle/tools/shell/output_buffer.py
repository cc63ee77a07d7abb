"""The output of a command: its first bytes in memory, its newest bytes in a ring buffer on disk.

```
position   0 ......... HEAD ............ total-RING ............... total
           [ in memory ] [ no longer kept ] [ ring: offset = position % RING ]
```

The file has no name, so that nothing is left when the process ends, even in a crash. A command that
prints little never gets a file.
"""

import os
import tempfile
from pathlib import Path
from threading import Lock

from msgspec import Struct

HEAD_BYTES = 64 * 1024
RING_BYTES = 8 * 1024 * 1024


class OutputSlice(Struct, frozen=True):
    """A part of the output."""

    data: bytes
    start: int
    """The position of its first byte; later than requested when those bytes are no longer kept."""

    @property
    def end(self) -> int:
        """The position after its last byte."""
        return self.start + len(self.data)


class OutputBuffer:
    """Keeps the first and the newest bytes of an output; every method blocks and is safe in any thread."""

    def __init__(self, folder: Path, *, head_bytes: int = HEAD_BYTES, ring_bytes: int = RING_BYTES) -> None:
        """Take the folder for the file, which is created only when the head is full."""
        self._folder = folder
        self._head_bytes = head_bytes
        self._ring_bytes = ring_bytes
        self._head = bytearray()
        self._file: int | None = None
        self._oldest = head_bytes
        """The first position that the ring still holds."""
        self._total = 0
        self._failure = ""
        self._lock = Lock()  # a reader must not see a half-written ring

    @property
    def total(self) -> int:
        """The number of bytes printed."""
        return self._total

    @property
    def failure(self) -> str:
        """Why nothing more is kept; empty if there was no failure."""
        return self._failure

    def append(self, data: bytes | memoryview) -> None:
        """Add bytes; after a write error, set `failure` and only count them."""
        view = memoryview(data)
        with self._lock:
            room = self._head_bytes - len(self._head)
            self._head += view[:room]
            self._total += len(view)
            rest = view[room:] if room > 0 else view
            if not rest or self._failure:
                return
            try:
                self._write(rest[-self._ring_bytes :])
            except OSError as error:
                self._failure = os.strerror(error.errno).lower() if error.errno else str(error)
                self._close()

    def read(self, start: int, limit: int) -> OutputSlice:
        """Return up to `limit` bytes from a position, or from the next position that is still kept."""
        with self._lock:
            start = min(max(start, 0), self._total)
            if start < len(self._head):
                return OutputSlice(bytes(self._head[start : start + limit]), start)
            start = self._total if self._file is None else max(start, self._oldest)
            return OutputSlice(self._read_file(start, min(limit, self._total - start)), start)

    def close(self) -> None:
        """Close the file; the bytes in memory can still be read."""
        with self._lock:
            self._close()

    def _write(self, data: memoryview) -> None:
        """Write the newest bytes, which end at the total, to their place in the ring."""
        if self._file is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file, name = tempfile.mkstemp(prefix="output-", dir=self._folder)
            os.unlink(name)
        position = self._total - len(data)
        self._oldest = max(self._head_bytes, self._total - self._ring_bytes)
        while data:
            offset = position % self._ring_bytes
            written = os.pwrite(self._file, data[: self._ring_bytes - offset], offset)
            data, position = data[written:], position + written

    def _read_file(self, position: int, limit: int) -> bytes:
        pieces = []
        while self._file is not None and limit > 0:
            offset = position % self._ring_bytes
            piece = os.pread(self._file, min(limit, self._ring_bytes - offset), offset)
            if not piece:
                break
            pieces.append(piece)
            position, limit = position + len(piece), limit - len(piece)
        return b"".join(pieces)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
