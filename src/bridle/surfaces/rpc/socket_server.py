"""Serves JSON-RPC clients on the user's own socket; all share the same sessions."""

import asyncio
from contextlib import suppress

from bridle.surfaces.rpc.connection import RpcConnection
from bridle.surfaces.rpc.lines import StreamLines, StreamSink
from bridle.surfaces.rpc.protocol import INTERNAL_ERROR, MAX_LINE_BYTES, ErrorResponse, failure_line
from bridle.surfaces.rpc.server_context import RpcContext

MAX_CLIENTS = 256
BUFFER_BYTES = 64 * 1024
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
