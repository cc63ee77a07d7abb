"""A server that sends given bytes, valid or not, and notices when its client disconnects."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def sse(*payloads: bytes) -> bytes:
    """Write an answer whose events have these payloads."""
    return HEAD + b"".join(b"data: %b\n\n" % payload for payload in payloads)


class RawServer:
    """Answers every request with the same bytes, then hangs up, or waits for the client to do so."""

    def __init__(self, answer: bytes, *, hang_up: bool) -> None:
        self.url = ""
        self.requests: list[bytes] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.was_asked = asyncio.Event()
        self.client_left = asyncio.Event()
        self._answer = answer
        self._hang_up = hang_up

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request."""
        self.writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
            self.requests.append(head + await reader.readexactly(length))
            self.was_asked.set()
            writer.write(self._answer)
            await writer.drain()
            if not self._hang_up:
                await reader.read()
                self.client_left.set()
        writer.close()


@asynccontextmanager
async def answering(answer: bytes, *, hang_up: bool = True) -> AsyncIterator[RawServer]:
    """Serve this answer on loopback."""
    raw = RawServer(answer, hang_up=hang_up)
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    raw.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield raw
    finally:
        server.close()
        for writer in raw.writers:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
