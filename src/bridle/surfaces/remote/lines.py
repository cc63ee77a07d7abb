"""Reads and writes the lines of a connection, for the client and the server."""

import asyncio
from collections import deque

from bridle.core.errors import BridleError

READ_BYTES = 64 * 1024
SEND_BYTES = 64 * 1024


class LineTooLong(BridleError):
    """The other side sent a line that exceeds the maximum length."""


class Lines:
    """Splits a stream into lines, reading all available bytes at once; a long line is an error."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._whole: deque[bytes] = deque()
        self._begun: list[bytes] = []
        self._begun_bytes = 0

    async def next(self, most_bytes: int) -> bytes | None:
        """Return the next line without its end, or None if no complete one follows; raises LineTooLong."""
        while not self._whole:
            piece = await self._reader.read(READ_BYTES)
            if not piece:
                return None
            first, *others = piece.split(b"\n")
            self._begun.append(first)
            self._begun_bytes += len(first)
            if self._begun_bytes > most_bytes:
                raise LineTooLong(f"a line is longer than {most_bytes} bytes")
            if others:
                self._whole.append(b"".join(self._begun))
                self._whole.extend(others[:-1])
                self._begun, self._begun_bytes = [others[-1]], len(others[-1])
        return self._whole.popleft()


class Outbox:
    """Sends lines in batches: one system call per line would cost more than the line itself."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    async def send(self, line: bytes) -> None:
        """Send a line, including its end, and wait for a slow reader; raises ConnectionError."""
        self.post(line)
        await self._writer.drain()

    def post(self, line: bytes) -> None:
        """Send a line without waiting for the reader."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        if self._waiting_bytes >= SEND_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write(b"".join(self._waiting))
            self._waiting, self._waiting_bytes = [], 0
