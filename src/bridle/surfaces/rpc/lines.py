"""The lines of a connection, as they come in over a stream; one that is too long is told, not kept."""

import asyncio
from collections import deque
from typing import Protocol

from bridle.system.lines import Lines

READ_BYTES = 64 * 1024


class TooLong:
    """Stands for a line that was too long."""


class LineSource(Protocol):
    """Where the lines of a client come from."""

    async def next(self) -> bytes | TooLong | None:
        """Return the next line without its end, None when there are no more."""
        ...


class LineSink(Protocol):
    """Where lines for a client go."""

    async def send(self, lines: bytes) -> None:
        """Send whole lines and wait for a slow reader; raises ConnectionError."""
        ...


class StreamLines:
    """Takes a stream apart; blank lines are left out."""

    def __init__(self, reader: asyncio.StreamReader, most_bytes: int) -> None:
        self._reader = reader
        self._lines = Lines(most_bytes)
        self._whole: deque[bytes | TooLong] = deque()
        self._has_ended = False

    async def next(self) -> bytes | TooLong | None:
        """Return the next line without its end, None when there are no more."""
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
    """Writes to a stream."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, lines: bytes) -> None:
        """Send whole lines and wait for a slow reader; raises ConnectionError."""
        self._writer.write(lines)
        await self._writer.drain()
