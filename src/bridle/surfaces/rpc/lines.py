"""The lines of a connection, as they come in over a stream; one that is too long is told, not kept."""

import asyncio
from collections import deque
from typing import Protocol

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
        self._most_bytes = most_bytes
        self._whole: deque[bytes | TooLong] = deque()
        self._begun: list[bytes] = []
        self._begun_bytes = 0
        self._has_ended = False

    async def next(self) -> bytes | TooLong | None:
        """Return the next line without its end, None when there are no more."""
        while not self._whole:
            if self._has_ended:
                return None
            piece = await self._reader.read(READ_BYTES)
            if piece:
                self._take(piece)
            else:
                self._has_ended = True
                self._finish_line()
        return self._whole.popleft()

    def _take(self, piece: bytes) -> None:
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            self._finish_line()
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._begun_bytes += len(part)
        if self._begun_bytes > self._most_bytes:
            self._begun.clear()  # it is read to its end, but no longer kept
        elif part:
            self._begun.append(part)

    def _finish_line(self) -> None:
        if self._begun_bytes > self._most_bytes:
            self._whole.append(TooLong())
        elif line := b"".join(self._begun).strip():
            self._whole.append(line)
        self._begun, self._begun_bytes = [], 0


class StreamSink:
    """Writes to a stream."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, lines: bytes) -> None:
        """Send whole lines and wait for a slow reader; raises ConnectionError."""
        self._writer.write(lines)
        await self._writer.drain()
