"""A client of a connection in the same process: it sends lines and keeps what it receives."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from bridle.core.session_api import SessionApi
from bridle.surfaces.meerkat.contract import parse_contract
from bridle.surfaces.rpc import RpcConnection, RpcContext
from bridle.surfaces.rpc.lines import StreamLines, StreamSink
from bridle.surfaces.rpc.protocol import MAX_LINE_BYTES
from bridle.surfaces.shared.folder_info import Folders
from tests.patience import PATIENCE_S


class RpcError(Exception):
    """The server could not do it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data", {})


class Talk:
    """One side of a conversation with a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard: list[dict[str, Any]] = []
        """Every message, in the order in which they came."""
        self.is_over = False
        self.serving: asyncio.Task[None]
        """The other side."""
        self.tools: dict[str, Callable[[dict[str, Any]], Any]] = {}
        """What answers the calls of tools."""
        self._reader = reader
        self._writer = writer
        self._ids = count(1)
        self._news = asyncio.Condition()

    async def listen(self) -> None:
        """Keep what comes until the server goes."""
        while line := await self._reader.readline():
            message = json.loads(line)
            if message.get("method") == "tool/execute" and message["params"]["name"] in self.tools:
                answer = self.tools[message["params"]["name"]](message["params"]["arguments"])
                if answer is not None:
                    self.say({"jsonrpc": "2.0", "id": message["id"], **answer})
            async with self._news:
                self.heard.append(message)
                self._news.notify_all()
        async with self._news:
            self.is_over = True
            self._news.notify_all()

    def say(self, message: Any) -> None:
        """Send a message, or a raw line."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._writer.write(line + b"\n")

    def ask(self, method: str, **params: Any) -> int:
        """Send a request; return its id."""
        id_ = next(self._ids)
        self.say({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        return id_

    async def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for a message that fits, among all there were."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            while True:
                for message in self.heard:
                    if fits(message):
                        return message
                assert not self.is_over, self.heard
                await self._news.wait()

    async def answer(self, id_: int) -> Any:
        """Wait for the answer to a request; raises RpcError."""
        message = await self.until(lambda one: one.get("id") == id_ and "method" not in one)
        if "error" in message:
            raise RpcError(message["error"])
        return message["result"]

    async def call(self, method: str, **params: Any) -> Any:
        """Send a request and return its result; raises RpcError."""
        return await self.answer(self.ask(method, **params))

    async def told(self, method: str) -> dict[str, Any]:
        """Wait for a notification and return its params."""
        found: dict[str, Any] = (await self.until(lambda one: one.get("method") == method))["params"]
        return found

    def events(self, method: str = "session/event") -> list[dict[str, Any]]:
        """Return the events that came so far."""
        return [one["params"]["event"] for one in self.heard if one.get("method") == method]

    def kinds(self) -> list[str]:
        """Return the types of the events that came so far, fragments left out."""
        return [event["type"] for event in self.events() if event["type"] != "text_delta"]

    def stop_reading(self) -> None:
        """Let the server's lines pile up."""
        transport = self._writer.transport
        assert isinstance(transport, asyncio.ReadTransport)
        transport.pause_reading()

    def go_on_reading(self) -> None:
        """Take what has piled up."""
        transport = self._writer.transport
        assert isinstance(transport, asyncio.ReadTransport)
        transport.resume_reading()

    def hang_up(self) -> None:
        """Send nothing more."""
        self._writer.write_eof()

    def vanish(self) -> None:
        """Be gone."""
        self._writer.transport.abort()

    async def end(self) -> None:
        """Wait until the server has gone."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(lambda: self.is_over)


@asynccontextmanager
async def talking(
    api: SessionApi,
    cwd: str = "/",
    environ: Mapping[str, str] = {},
    *,
    contract: str = "0.5.2",
    keeps_runs: bool = False,
) -> AsyncIterator[Talk]:
    """Open a connection to a session API; nothing of it is left afterwards."""
    desk = RpcContext(
        api=api,
        folders=Folders(environ, cwd),
        contract=parse_contract(contract),
        keeps_runs=keeps_runs,
        version="test",
    )
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=theirs)
    connection = RpcConnection(desk, StreamLines(reader, MAX_LINE_BYTES), StreamSink(writer))

    async def serve() -> None:
        try:
            await connection.serve()
        finally:
            writer.close()

    serving = asyncio.create_task(serve())
    talk = Talk(*await asyncio.open_connection(sock=ours, limit=MAX_LINE_BYTES * 2))
    talk.serving = serving
    listening = asyncio.create_task(talk.listen())
    try:
        yield talk
    finally:
        talk.vanish()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait([serving])
        if not serving.cancelled():
            serving.result()
        listening.cancel()
        await asyncio.wait([listening])
