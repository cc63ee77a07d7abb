"""Line sources and sinks of a connection; a line that is too long is reported and discarded."""

import asyncio
from collections import deque
from typing import Protocol

from bridle.system.line_buffer import LineBuffer

READ_BYTES = 64 * 1024


class TooLong:
    """Marks a line that was too long."""


class LineSource(Protocol):
    """The lines of a client."""

    async def next(self) -> bytes | TooLong | None:
        """Return the next line without its newline; None at the end."""
        ...


class LineSink(Protocol):
    """The lines for a client."""

    async def send(self, lines: bytes) -> None:
        """Send whole lines, waiting for a slow reader; raises ConnectionError."""
        ...


class StreamLines:
    """Splits a stream into lines, skipping blank ones."""

    def __init__(self, reader: asyncio.StreamReader, most_bytes: int) -> None:
        self._reader = reader
        self._lines = LineBuffer(most_bytes)
        self._whole: deque[bytes | TooLong] = deque()
        self._has_ended = False

    async def next(self) -> bytes | TooLong | None:
        """Return the next line without its newline; None at the end."""
        while not self._whole:
            if self._has_ended:
                return None
            piece = await self._reader.read(READ_BYTES)
            self._has_ended = not piece
            for line in self._lines.feed(piece or b"\n"):
                if line is None:
                    self._whole.append(TooLong())
                elif stripped := line.strip():
                    self._whole.append(stripped)
        return self._whole.popleft()


class StreamSink:
    """Writes lines to a stream."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, lines: bytes) -> None:
        """Send whole lines, waiting for a slow reader; raises ConnectionError."""
        self._writer.write(lines)
        await self._writer.drain()
