"""Serve clients over this process's stdin and stdout, or over a socket."""

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from bridle.surfaces.rpc.connection import RpcConnection
from bridle.surfaces.rpc.lines import LineSink, StreamLines, StreamSink
from bridle.surfaces.rpc.protocol import INTERNAL_ERROR, MAX_LINE_BYTES, ErrorResponse, failure_line
from bridle.surfaces.rpc.server_context import RpcContext

BUFFER_BYTES = 64 * 1024


async def serve_stdio(context: RpcContext) -> None:
    """Serve the parent process until it closes stdin or a signal arrives.

    If stdin is a file, its end does not mean that the client is gone: all its requests are answered.
    """
    is_file = _is_file(0)
    async with _standard_streams() as (reader, sink):
        lines = StreamLines(reader, MAX_LINE_BYTES)
        connection = RpcConnection(context, lines, sink, answers_all=is_file)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):  # also while the sessions close afterwards
            loop.add_signal_handler(number, connection.end)
        await connection.serve()


@asynccontextmanager
async def _standard_streams() -> AsyncIterator[tuple[asyncio.StreamReader, LineSink]]:
    """Reserve stdin and stdout; anything else that prints goes to stderr."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    closing: list[asyncio.BaseTransport] = []
    reading: asyncio.Task[None] | None = None
    try:
        reader = asyncio.StreamReader(BUFFER_BYTES)
        if _is_file(source):
            reading = asyncio.create_task(_feed(source, reader))
        else:
            closing.append(await open_reader(source, reader))
        sink: LineSink = _FileSink(target)
        if not _is_file(target):
            writer = await open_writer(target)
            closing.append(writer.transport)
            sink = StreamSink(writer)
        yield reader, sink
    finally:
        if reading is not None:
            reading.cancel()
        for transport in closing:
            transport.close()
        for descriptor, ours in ((0, source), (1, target)):
            os.set_blocking(ours, True)  # other users of the descriptor expect that
            os.dup2(ours, descriptor)
            os.close(ours)


def _is_file(descriptor: int) -> bool:
    """Return True if the event loop cannot wait for a descriptor and need not."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))  # /dev/null


async def open_reader(descriptor: int, reader: asyncio.StreamReader) -> asyncio.BaseTransport:
    """Read from a pipe without blocking; the caller closes the descriptor."""
    pipe = os.fdopen(descriptor, "rb", buffering=0, closefd=False)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
    return transport


async def open_writer(descriptor: int) -> asyncio.StreamWriter:
    """Write to a pipe without blocking; the caller closes the descriptor."""
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", buffering=0, closefd=False)
    transport, protocol = await loop.connect_write_pipe(lambda: asyncio.streams.FlowControlMixin(loop), pipe)
    transport.set_write_buffer_limits(0)  # after a drain, everything is written
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _feed(descriptor: int, reader: asyncio.StreamReader) -> None:
    while piece := await asyncio.to_thread(os.read, descriptor, BUFFER_BYTES):
        reader.feed_data(piece)
    reader.feed_eof()


class _FileSink:
    """Writes lines to a file."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def send(self, lines: bytes) -> None:
        """Write whole lines; raises ConnectionError on failure."""
        left = memoryview(lines)
        try:
            while left:
                left = left[await asyncio.to_thread(os.write, self._descriptor, left) :]
        except OSError as error:
            raise ConnectionResetError(str(error)) from error


# ---------------------------------------------------------------------------- sockets


MAX_CLIENTS = 256
CLOSE_S = 5.0


class SocketServer:
    """Accepts connections and closes them."""

    def __init__(self, context: RpcContext) -> None:
        self._context = context
        self._open: dict[asyncio.Task[None], RpcConnection] = {}

    @property
    def clients(self) -> int:
        """The number of connected clients."""
        return len(self._open)

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a new client."""
        connection = RpcConnection(self._context, StreamLines(reader, MAX_LINE_BYTES), StreamSink(writer))
        task = asyncio.create_task(self._serve(connection, writer))
        self._open[task] = connection
        task.add_done_callback(lambda done: self._open.pop(done, None))

    async def aclose(self) -> None:
        """Close every connection."""
        tasks = dict(self._open)
        for connection in tasks.values():
            connection.end()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSE_S)
            for task in late:
                task.cancel()

    async def _serve(self, connection: RpcConnection, writer: asyncio.StreamWriter) -> None:
        try:
            if self.clients > MAX_CLIENTS:
                refusal = ErrorResponse(INTERNAL_ERROR, f"{MAX_CLIENTS} clients are connected already")
                writer.write(failure_line(None, refusal))
                return
            await connection.serve()
        finally:
            writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await writer.wait_closed()
