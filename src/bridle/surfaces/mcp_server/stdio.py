"""Serves MCP over stdin and stdout to the program that started the process."""

import asyncio
import fcntl
import logging
import os
import queue
import threading
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from bridle.surfaces.mcp_server.server import BridleServer

# ---------------------------------------------------------------------------- stdio pipes
# Stdin and stdout as a wire: bounded lines in, whole lines out, and nothing else on either.
#
# Both block for as long as the other side likes, so each has its own daemon thread, which does not keep the
# process alive.


MAX_LINE_BYTES = 16 * 1024 * 1024
TOO_LONG = b""
"""Stands for a line that was too long and was discarded."""

_ABOVE_STANDARD = 3


class Lines:
    """The input lines, one at a time; the next line is read only on request."""

    def __init__(self, source: BinaryIO, most: int = MAX_LINE_BYTES) -> None:
        self._source = source
        self._most = most
        self._wanted = threading.Semaphore(0)
        self._found: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> bytes:
        self._wanted.release()
        line = await self._found.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        line: bytes | None = b""
        while line is not None:
            self._wanted.acquire()
            line = self._next_line()
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._found.put_nowait, line)

    def _next_line(self) -> bytes | None:
        try:
            line = self._source.readline(self._most + 1)
            if len(line) <= self._most:
                return line or None
            while line and not line.endswith(b"\n"):
                line = self._source.readline(self._most)
        except (OSError, ValueError):
            return None
        return TOO_LONG


class Writer:
    """Writes lines in order."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._waiting: queue.SimpleQueue[tuple[bytes, Callable[[OSError | None], None]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="stdout", daemon=True).start()

    async def write(self, data: bytes) -> None:
        """Write all data; raises OSError if the reader is gone."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()

        def settle(error: OSError | None) -> None:
            if not written.done():
                written.set_exception(error) if error is not None else written.set_result(None)

        def tell(error: OSError | None) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(settle, error)

        self._waiting.put((data, tell))
        await written

    def _write(self) -> None:
        while True:
            data, tell = self._waiting.get()
            try:
                self._target.write(data)
                self._target.flush()
            except OSError as error:
                tell(error)
            else:
                tell(None)


@contextmanager
def standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Reserve stdin and stdout for the wire: other readers get nothing, other output goes to stderr.

    They are not restored: the process ends with the wire.
    """
    private = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD) for number in (0, 1)]
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    # Not closed, because threads may still use them.
    yield os.fdopen(private[0], "rb", closefd=False), os.fdopen(private[1], "wb", closefd=False)


# ---------------------------------------------------------------------------- stdio


log = logging.getLogger("bridle.mcp_server")

LAST_S = 1.0

Incoming = SessionMessage | Exception


async def serve_stdio(bridle: BridleServer) -> None:
    """Serve until the client closes stdin."""
    with standard_streams() as (source, target):
        await serve_lines(bridle, Lines(source), Writer(target))


async def serve_lines(bridle: BridleServer, lines: AsyncIterable[bytes], writer: Writer) -> None:
    """Serve one client over lines."""
    incoming, requests = anyio.create_memory_object_stream[Incoming](0)
    answers, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered = _Unanswered()
    async with anyio.create_task_group() as group:
        group.start_soon(_read, bridle, lines, incoming, answers.clone(), unanswered)
        group.start_soon(_write, outgoing, writer, unanswered)
        server = bridle.server
        await server.run(requests, answers, server.create_initialization_options())
        with anyio.move_on_after(LAST_S):
            await unanswered.written.wait()
        group.cancel_scope.cancel()


class _Unanswered:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self.written = anyio.Event()
        """Set when nothing more will be written."""
        self._ids: set[RequestId] = set()
        self._changed = anyio.Event()

    def add(self, message: SessionMessage) -> None:
        """Record an incoming message."""
        if isinstance(message.message, JSONRPCRequest):
            self._ids.add(message.message.id)

    def settle(self, message: SessionMessage) -> None:
        """Record an outgoing message."""
        if isinstance(message.message, JSONRPCResponse | JSONRPCError) and message.message.id is not None:
            self._ids.discard(message.message.id)
            self._changed.set()

    async def none_left(self) -> None:
        """Wait until every request is answered."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()


async def _read(
    bridle: BridleServer,
    lines: AsyncIterable[bytes],
    incoming: MemoryObjectSendStream[Incoming],
    answers: MemoryObjectSendStream[SessionMessage],
    unanswered: _Unanswered,
) -> None:
    async with incoming, answers:
        with suppress(anyio.BrokenResourceError):  # the server has stopped
            await _pass_on(lines, incoming, answers, unanswered)
        bridle.runs.is_leaving = True
        with anyio.move_on_after(LAST_S):  # the end of the input ends whatever is not answered by then
            await unanswered.none_left()


async def _pass_on(
    lines: AsyncIterable[bytes],
    incoming: MemoryObjectSendStream[Incoming],
    answers: MemoryObjectSendStream[SessionMessage],
    unanswered: _Unanswered,
) -> None:
    async for line in lines:
        message = _parse(line)
        if isinstance(message, JSONRPCError):
            await answers.send(SessionMessage(message))
        elif message is not None:
            unanswered.add(message)
            await incoming.send(message)


def _parse(line: bytes) -> SessionMessage | JSONRPCError | None:
    """Parse one message; return an error for an invalid one and None for an empty line."""
    if line == TOO_LONG:
        return _refusal(INVALID_REQUEST, f"a message is longer than {MAX_LINE_BYTES // 1024 // 1024} MiB")
    if not line.strip():
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_context=False, include_input=False)
        is_json = first["type"] != "json_invalid"
        if is_json:
            return _refusal(INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 message per line")
        return _refusal(PARSE_ERROR, f"Parse error: {first['msg']}")


def _refusal(code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))


async def _write(
    outgoing: MemoryObjectReceiveStream[SessionMessage], writer: Writer, unanswered: _Unanswered
) -> None:
    async with outgoing:
        await _write_all(outgoing, writer, unanswered)
    unanswered.written.set()


async def _write_all(
    outgoing: MemoryObjectReceiveStream[SessionMessage], writer: Writer, unanswered: _Unanswered
) -> None:
    async for message in outgoing:
        line: Any = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await writer.write(f"{line}\n".encode())
            unanswered.settle(message)
        except OSError as error:
            log.info("the client no longer reads: %s", error)
            return
