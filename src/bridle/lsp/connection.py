"""A JSON-RPC connection to a language server over pipes; requests have deadlines, all buffers are bounded.

```
ask, tell ──▶ [pipe] ──▶ fd 0  server  fd 1 ──▶ [pipe] ──▶ responses, its requests, notifications ──▶ Listener
                                       fd 2 ──▶ [pipe] ──▶ the end of its stderr
```
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Raw

from bridle.core.errors import ToolError
from bridle.core.malformed import MALFORMED
from bridle.core.ports import Process
from bridle.lsp.display_text import clean_line
from bridle.lsp.protocol import JsonRpcMessage
from bridle.system.pipes import Pipes

# ---------------------------------------------------------------------------- frames
# The framing of messages on a pipe: a header with the length, an empty line, JSON.
#
# ```
# Content-Length: 44\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"shutdown"}
# ```
#
# Some servers print to the same pipe by mistake: bytes between two messages are skipped, up to a limit.


MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_HEADER_BYTES = 4 * 1024
MAX_NOISE_BYTES = 64 * 1024

_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_END = re.compile(rb"\r?\n\r?\n")
_ENCODER = msgspec.json.Encoder()


class Malformed(Exception):
    """The input is not a message, and the start of the next one cannot be found."""


def encode(message: dict[str, Any]) -> bytes:
    """Encode a message with its header."""
    body = _ENCODER.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Frames:
    """Splits the incoming bytes into message bodies."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None
        """The length of the incoming body; None before its header is complete."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add bytes and yield the complete bodies; raises Malformed, after which the object is unusable."""
        self._buffer += data
        while True:
            if self._wanted is None and not self._read_header():
                return
            assert self._wanted is not None
            if len(self._buffer) < self._wanted:
                return
            body = bytes(self._buffer[: self._wanted])
            del self._buffer[: self._wanted]
            self._wanted = None
            yield body

    def _read_header(self) -> bool:
        """Read the next header; False if it is incomplete."""
        found = _LENGTH.search(self._buffer)
        if (found.start() if found else len(self._buffer)) > MAX_NOISE_BYTES:
            raise Malformed("it writes other text than messages to its output")
        if found is None:
            return False
        end = _END.search(self._buffer, found.end(1))
        if (end.end() if end else len(self._buffer)) - found.start() > MAX_HEADER_BYTES:
            raise Malformed("a header has no end")
        if end is None:
            return False
        self._wanted = int(found[1])
        if self._wanted > MAX_MESSAGE_BYTES:
            raise Malformed(f"a message of {self._wanted} bytes is too long")
        del self._buffer[: end.end()]
        return True


# ---------------------------------------------------------------------------- connection


MAX_UNREAD_BYTES = 64 * 1024 * 1024
MAX_WAITING = 1000
LARGE_BYTES = 256 * 1024  # decodes in a few milliseconds; longer messages are decoded in a thread
_READ_BYTES = 64 * 1024
_MAX_WORDS_BYTES = 4 * 1024
_MAX_SHOWN = 500
_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602
_ENVELOPE = msgspec.json.Decoder(JsonRpcMessage)

T = TypeVar("T")


class ServerExited(ToolError):
    """The server has exited or violates the protocol."""


class ServerTimeout(ToolError):
    """The server did not answer in time."""


class RequestRefused(ToolError):
    """The server answered with an error."""

    def __init__(self, message: str, code: int, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class UnsupportedRequest(Exception):
    """A server sent a request that we do not support."""


class ConnectionListener(Protocol):
    """Receives the requests and notifications of a server."""

    async def on_notification(self, method: str, params: Raw) -> None:
        """Handle a notification; raises msgspec.MsgspecError for a malformed one, which is then ignored."""
        ...

    def asked(self, method: str, params: Raw) -> Any:
        """Return the result for a request; raises Unknown, msgspec.MsgspecError."""
        ...

    def on_closed(self) -> None:
        """Handle the end of the connection."""
        ...


async def decode(data: Raw | bytes, kind: type[T]) -> T:
    """Decode JSON, in a thread if it is long; raises msgspec.MsgspecError."""
    if len(memoryview(data)) < LARGE_BYTES:
        return _decode(data, kind)
    return await asyncio.to_thread(_decode, data, kind)


def _decode(data: Raw | bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind, strict=False)
    except (RecursionError, UnicodeDecodeError) as error:
        raise msgspec.DecodeError(str(error)) from error


class _StderrTail(asyncio.Protocol):
    """Keeps the end of a program's stderr."""

    def __init__(self) -> None:
        self.tail = b""

    def data_received(self, data: bytes) -> None:
        self.tail = (self.tail + data)[-_MAX_WORDS_BYTES:]


class Connection:
    """A connection to one server process; opened by `open_connection`, ended by `close`."""

    def __init__(self, name: str, process: Process, listener: ConnectionListener) -> None:
        self.name = name
        self.process = process
        self.why_gone = ""
        """Why the connection has ended; empty while it is usable."""
        self._listener = listener
        self._waiting: dict[int, asyncio.Future[JsonRpcMessage]] = {}
        self._next_id = 1
        self._words = _StderrTail()
        self._reader = asyncio.StreamReader(limit=_READ_BYTES)
        self._transports: list[asyncio.BaseTransport] = []
        self._to: asyncio.WriteTransport | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """True while a request is unanswered."""
        return bool(self._waiting)

    async def open(self, pipes: Pipes) -> None:
        """Take over our ends of the pipes and start to read."""
        loop = asyncio.get_running_loop()
        to_server, from_server, errors = (
            os.fdopen(descriptor, mode, 0)
            for descriptor, mode in zip(pipes.ours, ("wb", "rb", "rb"), strict=True)
        )
        try:
            self._to, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, to_server)
            self._transports.append(self._to)
            reader, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(self._reader), from_server
            )
            self._transports.append(reader)
            words, _ = await loop.connect_read_pipe(lambda: self._words, errors)
            self._transports.append(words)
        except BaseException:
            for file in (to_server, from_server, errors)[len(self._transports) :]:
                file.close()
            raise
        self._reading = loop.create_task(self._read(), name=f"language server {self.name}")

    async def ask(self, method: str, params: Any, kind: type[T], timeout_s: float) -> T | None:
        """Send a request and return its result; raises Gone, Slow, Refused, or ToolError if it is malformed.

        Returns None for a null result, which every server may send. On a timeout or when the caller is
        cancelled, the server gets a `$/cancelRequest`.
        """
        if self.why_gone:
            raise ServerExited(self.why_gone)
        if len(self._waiting) >= MAX_WAITING:
            raise ToolError(f"{self.name} has too many open requests: try again later")
        number = self._next_id
        self._next_id += 1
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            async with asyncio.timeout(timeout_s):
                got = await answer
        except TimeoutError:
            self._cancel(number)
            raise ServerTimeout(f"{self.name} did not answer {method} within {timeout_s:.3g} s") from None
        except asyncio.CancelledError:
            self._cancel(number)
            raise
        finally:
            self._waiting.pop(number, None)
        if got.error is not None:
            raise _refusal(self.name, method, got.error)
        if bytes(memoryview(got.result)[:5]) == b"null":
            return None
        try:
            return await decode(got.result, kind)
        except msgspec.MsgspecError as error:
            raise ToolError(f"{self.name} sent an invalid answer to {method}") from error

    def tell(self, method: str, params: Any) -> None:
        """Send a notification; it is dropped if the connection has ended."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def last_words(self) -> str:
        """Return the most informative recent line of its stderr: the last with "error", else the last."""
        lines = [line.strip() for line in self._words.tail.decode(errors="replace").splitlines()]
        relevant = [line for line in lines if "error" in line.lower()] or [line for line in lines if line]
        return clean_line(relevant[-1], _MAX_SHOWN) if relevant else ""

    async def close(self) -> None:
        """Kill the process if it still runs, and close the pipes; safe to call again."""
        self.process.kill()
        self._fail(f"{self.name} was ended")
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        for transport in self._transports:
            _close(transport)
        self._transports = []
        await asyncio.sleep(0)  # the event loop closes the pipes in its next iteration
        await asyncio.sleep(0)

    def _cancel(self, number: int) -> None:
        if not self.why_gone:
            self.tell("$/cancelRequest", {"id": number})

    def _send(self, message: dict[str, Any]) -> None:
        if self.why_gone or self._to is None or self._to.is_closing():
            return
        try:
            self._to.write(encode(message))
        except UnicodeEncodeError as error:
            raise ToolError(f"{self.name} takes only text that is valid Unicode") from error
        if self._to.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self._give_up("it does not read its input")

    async def _read(self) -> None:
        frames = Frames()
        try:
            while data := await self._reader.read(_READ_BYTES):
                for body in frames.feed(data):
                    await self._take(body)
            await self._note_end()
        except Malformed as error:
            self._give_up(str(error))
        except msgspec.MsgspecError:
            self._give_up("it sent an invalid message")
        finally:
            self._give_up("its output cannot be read any more")

    async def _note_end(self) -> None:
        """Record the exit status of the process; kill it first if it only closed its output."""
        self.process.kill()
        status = await self.process.wait()
        words = self.last_words()
        self._fail(f"{self.name} has ended with status {status}" + (f": {words}" if words else ""))

    async def _take(self, body: bytes) -> None:
        if len(body) < LARGE_BYTES:
            message = _open_envelope(body)
        else:
            message = await asyncio.to_thread(_open_envelope, body)
        if message.method is None:
            self._settle(message)
        elif message.id is None:
            with suppress(*MALFORMED):
                await self._listener.on_notification(message.method, message.params)
        else:
            self._answer(message.id, message.method, message.params)

    def _settle(self, message: JsonRpcMessage) -> None:
        waiting = self._waiting.get(message.id) if isinstance(message.id, int) else None
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    def _answer(self, number: int | str, method: str, params: Raw) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        try:
            answer["result"] = self._listener.asked(method, params)
        except UnsupportedRequest:
            answer["error"] = {"code": _METHOD_NOT_FOUND, "message": "unknown method"}
        except MALFORMED as error:
            answer["error"] = {"code": _INVALID_PARAMS, "message": str(error)}
        self._send(answer)

    def _give_up(self, why: str) -> None:
        self.process.kill()
        self._fail(f"{self.name} was ended: {why}")

    def _fail(self, why: str) -> None:
        if self.why_gone:
            return
        self.why_gone = why
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ServerExited(why))
                waiting.exception()  # retrieve it, or asyncio logs an error when no caller waits any more
        self._listener.on_closed()


def _open_envelope(body: bytes) -> JsonRpcMessage:
    try:
        return _ENVELOPE.decode(body)
    except (RecursionError, UnicodeDecodeError) as error:
        raise msgspec.DecodeError(str(error)) from error


def _refusal(name: str, method: str, error: Any) -> RequestRefused:
    said = error if isinstance(error, dict) else {}
    code = said.get("code")
    message = clean_line(str(said.get("message", "")), _MAX_SHOWN) or "no reason given"
    return RequestRefused(
        f"{name} refused {method}: {message}", code if isinstance(code, int) else 0, said.get("data")
    )


def _close(transport: asyncio.BaseTransport) -> None:
    if transport.is_closing():
        return  # the other side closed first
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()
    else:
        transport.close()


async def open_connection(
    name: str, start: Callable[[Pipes], Awaitable[Process]], listener: ConnectionListener
) -> Connection:
    """Start a process with our pipes and read from it; raises ToolError."""
    try:
        pipes = Pipes()
    except OSError as error:
        raise ToolError(f"no pipe can be opened: {os.strerror(error.errno or 0).lower()}") from error
    try:
        process = await start(pipes)
    except BaseException:
        pipes.close()
        raise
    pipes.close_theirs()
    connection = Connection(name, process, listener)
    try:
        await connection.open(pipes)
    except BaseException:
        await connection.close()
        raise
    return connection
