"""Clients for the tests: one for an app without a socket, one for a socket without a library."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridle.surfaces.rest.connection import ConnectionLimits
from bridle.surfaces.rest.server import HttpServer, serve_http
from tests.patience import PATIENCE_S

Event = tuple[str, str, str]
"""The id, the name and the data of an event; what is not there is empty."""


def scope_of(path: str = "/", method: str = "GET", kind: str = "http", **headers: str) -> Scope:
    """Make the scope of a request to this machine."""
    named = {"host": "127.0.0.1:1", **{name.replace("_", "-"): value for name, value in headers.items()}}
    protocols = named.get("sec-websocket-protocol", "")
    return {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()],
        "subprotocols": [name.strip() for name in protocols.split(",") if name],
        "extensions": {"websocket.http.response": {}},
    }


class Answer:
    """The response of an app."""

    def __init__(self, messages: list[Message]) -> None:
        self.status: int = messages[0]["status"]
        self.headers: dict[str, str] = {
            name.decode(): value.decode() for name, value in messages[0]["headers"]
        }
        self.body = b"".join(message.get("body", b"") for message in messages[1:])


async def ask(app: ASGIApp, scope: Scope, *body: bytes) -> Answer:
    """Ask an app, with a body in these pieces."""
    messages: list[Message] = []
    pieces = list(body) or [b""]
    if (
        scope["type"] == "http"
        and body
        and not any(name == b"content-length" for name, _ in scope["headers"])
    ):
        scope["headers"].append((b"transfer-encoding", b"chunked"))

    async def receive() -> Message:
        if scope["type"] == "websocket":
            return {"type": "websocket.connect"}
        if not pieces:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    return Answer(messages)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request."""
    message = await receive()
    told = {"path": scope["path"], "size": len(message.get("body", b""))}
    await JSONResponse(told)(scope, receive, send)


def refused(answer: Answer) -> tuple[int, str]:
    """Return the status and the code of a refusal, which must be a whole problem document."""
    document = json.loads(answer.body)
    assert answer.headers["content-type"] == "application/problem+json"
    assert document["status"] == answer.status
    assert document["error"] == document["detail"]
    assert {"type", "title", "status", "detail", "code", "error"} <= set(document)
    return answer.status, document["code"]


class Watcher:
    """A client of a stream, which can be slow and can leave."""

    def __init__(self, app: ASGIApp, scope: Scope | None = None) -> None:
        self.data = b""
        self.writes = 0
        self.is_stuck = False
        self.is_over = False
        self.may_take = asyncio.Event()
        self.may_take.set()
        self._changed = asyncio.Event()
        self._left = asyncio.Event()
        self._serving = asyncio.create_task(app(scope or scope_of(), self._receive, self._send))  # type: ignore[arg-type]

    async def _receive(self) -> Message:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.is_stuck = not self.may_take.is_set()
        await self.may_take.wait()
        self.is_stuck = False
        self.writes += 1
        self.data += message.get("body", b"")
        self.is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
        self._changed.set()

    @property
    def events(self) -> list[Event]:
        return events_of(self.data)

    @property
    def ids(self) -> list[int]:
        """Return the numbers of the records that came."""
        return [int(event[0]) for event in self.events if event[0]]

    def names(self) -> list[str]:
        return [name for _, name, _ in self.events]

    async def until(self, *wanted: str, count: int = 1) -> None:
        """Wait until so many events of these names have come."""
        await self.until_holds(lambda: sum(name in wanted for name in self.names()) >= count)

    async def until_id(self, seq: int) -> None:
        await self.until_holds(lambda: seq in self.ids)

    async def until_holds(self, holds: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def end(self) -> None:
        """Wait until the server has ended it."""
        async with asyncio.timeout(PATIENCE_S):
            await self._serving
        assert self.is_over

    async def leave(self) -> None:
        """Disconnect, and wait until the server has noticed."""
        self._left.set()
        async with asyncio.timeout(PATIENCE_S):
            await self._serving


def events_of(data: bytes) -> list[Event]:
    """Read the whole events of a stream, as a browser does."""
    found = []
    for block in data.decode().split("\n\n")[:-1]:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        if "data" in fields:
            found.append((fields.get("id", ""), fields["event"], fields["data"]))
    return found


class Line:
    """A connection that sends exact bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, text: str | bytes) -> None:
        self.writer.write(text.encode() if isinstance(text, str) else text)
        await self.writer.drain()

    async def head(self) -> tuple[int, dict[str, str]]:
        """Read the status and the headers of an answer."""
        async with asyncio.timeout(PATIENCE_S):
            status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(status.split()[1]), headers

    async def answer(self) -> tuple[int, bytes]:
        """Read an answer that says how long it is."""
        status, headers = await self.head()
        async with asyncio.timeout(PATIENCE_S):
            return status, await self.reader.readexactly(int(headers.get("content-length", "0")))

    async def is_closed(self) -> bool:
        """Wait until the other side closes, whatever it still says."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                while await self.reader.read(65536):
                    pass
            except ConnectionError:
                pass
        return True

    async def aclose(self) -> None:
        self.writer.transport.abort()


class Served:
    """A server and the connections that a test has made to it."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.port = server.port
        self._lines: list[Line] = []

    @property
    def connections(self) -> int:
        return self.server.connections

    @property
    def requests(self) -> int:
        return self.server.requests

    async def dial(self) -> Line:
        """Connect."""
        line = Line(*await asyncio.open_connection("127.0.0.1", self.port))
        self._lines.append(line)
        return line

    async def hang_up(self) -> None:
        """Close every connection on this side."""
        for line in self._lines:
            await line.aclose()
        await asyncio.sleep(0)


@asynccontextmanager
async def served(app: ASGIApp, bounds: ConnectionLimits | None = None) -> AsyncIterator[Served]:
    """Serve an app on a free port."""
    async with serve_http(app, bounds=bounds) as server:
        house = Served(server)
        try:
            yield house
        finally:
            await house.hang_up()


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  nothing says when a socket of the other side is gone
            await asyncio.sleep(0.002)


def request(path: str = "/", method: str = "GET", body: bytes = b"", **headers: str) -> bytes:
    """Write a request."""
    named: Mapping[str, str] = {
        "host": "127.0.0.1",
        **({"content-length": str(len(body)), "content-type": "application/json"} if body else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body
