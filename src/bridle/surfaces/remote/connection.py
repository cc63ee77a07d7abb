"""One connection to the daemon: sends numbered requests and routes each answer to the code that awaits it.

```
ask       ─▶ Request(n) ─▶      ◀─ Answer(n) result or failure
following ─▶ Request(n) ─▶      ◀─ Answer(n) item, item, ...       until Unwatch(n)
```
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, TypeVar

import msgspec

from bridle.core.codec import decode_error, encode
from bridle.core.errors import BridleError, DaemonGone, StoreCorrupt, UsageError
from bridle.surfaces.remote.asks import MAX_LINE_BYTES, Answer, Ask, AskRequest, Unwatch

# ---------------------------------------------------------------------------- lines
# Reads and writes the lines of a connection, for the client and the server.


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


# ---------------------------------------------------------------------------- connection


GONE_HINT = "bridle daemon status; recorded events are not lost"

_answers = msgspec.json.Decoder(Answer)

T = TypeVar("T")


class Stream(Protocol):
    """Receives all answers to one request."""

    def take(self, line: msgspec.Raw) -> None:
        """Receive the next item."""
        ...

    def fail(self, error: BridleError) -> None:
        """Receive the error that ends the stream."""
        ...


class Connection:
    """Sends requests and reads answers until one side closes the connection."""

    def __init__(self, lines: Lines, writer: asyncio.StreamWriter) -> None:
        self._lines = lines
        self._writer = writer
        self._last = 0
        self._asked: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._streams: dict[int, tuple[Stream, str]] = {}
        """By request number, each with the hint to show if the daemon ends."""
        self._gone: DaemonGone | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def is_gone(self) -> bool:
        """True if the connection is lost."""
        return self._gone is not None

    def next_number(self) -> int:
        """Return the number for a new request."""
        self._last += 1
        return self._last

    async def ask(self, ask: Ask, kind: type[T]) -> T:
        """Send a request and wait for its result; raises the error that the daemon sends, or DaemonGone."""
        number = self.next_number()
        answered: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._asked[number] = answered
        try:
            await self.send(AskRequest(number, ask))
            return msgspec.json.decode(await answered, type=kind)
        finally:
            del self._asked[number]
            if not answered.cancel() and not answered.cancelled():
                answered.exception()  # else asyncio warns if the connection was lost while sending

    @contextmanager
    def following(self, number: int, stream: Stream, hint: str = GONE_HINT) -> Iterator[None]:
        """Route all answers to a request to a stream while the context is open."""
        self._streams[number] = stream, hint
        try:
            yield
        finally:
            del self._streams[number]
            if self._gone is None:
                with suppress(ConnectionError):
                    self._writer.write(encode(AskRequest(self.next_number(), Unwatch(number))) + b"\n")

    async def send(self, request: AskRequest) -> None:
        """Send a request; raises DaemonGone, or UsageError if it is too long."""
        if self._gone is not None:
            raise self._gone
        line = encode(request)
        if len(line) > MAX_LINE_BYTES:  # the daemon would close the connection, and end all our streams
            raise UsageError(f"this is longer than the {MAX_LINE_BYTES} bytes that the daemon reads at once")
        try:
            self._writer.write(line + b"\n")
            await self._writer.drain()
        except ConnectionError:
            raise DaemonGone("the daemon closed the connection") from None

    async def until_gone(self) -> None:
        """Wait until the connection is closed."""
        await asyncio.wait([self._reading])

    async def aclose(self) -> None:
        """Close the connection."""
        self._reading.cancel()
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        why = "the daemon has ended"
        try:
            while (line := await self._lines.next(MAX_LINE_BYTES)) is not None:
                self._take(_answers.decode(line))
        except (ConnectionError, LineTooLong, StoreCorrupt, msgspec.DecodeError) as error:
            why = f"the connection to the daemon failed: {error}"
        finally:
            self._hang_up(why)

    def _take(self, answer: Answer) -> None:
        stream, _ = self._streams.get(answer.id, (None, ""))
        if stream is not None:
            if answer.failure is not None:
                stream.fail(decode_error(answer.failure))
            else:
                stream.take(answer.item)
            return
        answered = self._asked.get(answer.id)
        if answered is None or answered.done():
            return
        if answer.failure is not None:
            answered.set_exception(decode_error(answer.failure))
        else:
            answered.set_result(answer.result)

    def _hang_up(self, why: str) -> None:
        gone = self._gone = DaemonGone(why, hint=GONE_HINT)
        for answered in self._asked.values():
            if not answered.done():
                answered.set_exception(gone)
        for stream, hint in self._streams.values():
            stream.fail(DaemonGone(why, hint=hint))
