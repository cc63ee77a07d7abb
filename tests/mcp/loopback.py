"""Servers on this machine's loopback: real ones of the SDK, and ones that send what a test wants."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import uvicorn

Answer = Callable[[str, bytes, dict[str, str]], Awaitable[bytes] | bytes]


class Last(bytes):
    """An answer after which the server hangs up."""


def bound() -> socket.socket:
    """Return a socket on a free port."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", 0))
    return made


class _Quiet(uvicorn.Server):
    """Leaves the signals of the test run alone."""

    def capture_signals(self) -> Any:  # type: ignore[override]
        return nullcontext()


@asynccontextmanager
async def serving(app: Any, at: socket.socket | None = None) -> AsyncIterator[str]:
    """Serve an ASGI application; gives its address."""
    at = at or bound()
    config = uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1)
    server = _Quiet(config)
    task = asyncio.create_task(server.serve(sockets=[at]))
    try:
        yield address(at)
    finally:
        server.should_exit = True
        await task
        at.close()


def address(at: socket.socket) -> str:
    return f"http://127.0.0.1:{at.getsockname()[1]}"


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[str]:
    """Answer each HTTP request with the bytes that `answer(request line, body, headers)` gives."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {
                    line.partition(": ")[0].lower(): line.partition(": ")[2] for line in head[1:] if line
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                made = answer(head[0], body, headers)
                sent = made if isinstance(made, bytes) else await made
                writer.write(sent)
                await writer.drain()
                if isinstance(sent, Last):
                    return
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield address(server.sockets[0])
    finally:
        server.close()


def response(status: str, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
