"""A connection over stdin and stdout of this process, which nothing else reads or writes meanwhile."""

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridle.surfaces.rpc.connection import Connection
from bridle.surfaces.rpc.desk import Desk
from bridle.surfaces.rpc.lines import LineSink, StreamLines, StreamSink
from bridle.surfaces.rpc.protocol import MAX_LINE_BYTES

BUFFER_BYTES = 64 * 1024


async def serve_stdio(desk: Desk) -> None:
    """Serve the program that has started us, until it closes our input or a signal comes.

    Where the input is a file, its end says nothing about the program: all in it is answered.
    """
    is_file = _is_file(0)
    async with _standard_streams() as (reader, sink):
        lines = StreamLines(reader, MAX_LINE_BYTES)
        connection = Connection(desk, lines, sink, answers_all=is_file)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):  # also while the sessions are closed afterwards
            loop.add_signal_handler(number, connection.end)
        await connection.serve()


@asynccontextmanager
async def _standard_streams() -> AsyncIterator[tuple[asyncio.StreamReader, LineSink]]:
    """Take stdin and stdout for us alone; what anything else prints goes to stderr."""
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
            os.set_blocking(ours, True)  # whoever shares it with us expects that
            os.dup2(ours, descriptor)
            os.close(ours)


def _is_file(descriptor: int) -> bool:
    """Tell whether a loop cannot wait for a descriptor, nor needs to."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))  # /dev/null


async def open_reader(descriptor: int, reader: asyncio.StreamReader) -> asyncio.BaseTransport:
    """Read from a pipe without blocking; whoever opened it closes it."""
    pipe = os.fdopen(descriptor, "rb", buffering=0, closefd=False)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
    return transport


async def open_writer(descriptor: int) -> asyncio.StreamWriter:
    """Write to a pipe without blocking; whoever opened it closes it."""
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", buffering=0, closefd=False)
    transport, protocol = await loop.connect_write_pipe(lambda: asyncio.streams.FlowControlMixin(loop), pipe)
    transport.set_write_buffer_limits(0)  # what was drained is really gone
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _feed(descriptor: int, reader: asyncio.StreamReader) -> None:
    while piece := await asyncio.to_thread(os.read, descriptor, BUFFER_BYTES):
        reader.feed_data(piece)
    reader.feed_eof()


class _FileSink:
    """Writes to a file."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def send(self, lines: bytes) -> None:
        """Write whole lines; raises ConnectionError when that fails."""
        left = memoryview(lines)
        try:
            while left:
                left = left[await asyncio.to_thread(os.write, self._descriptor, left) :]
        except OSError as error:
            raise ConnectionResetError(str(error)) from error
