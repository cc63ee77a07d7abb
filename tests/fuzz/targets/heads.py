"""Targets: data that strangers send to a port: HTTP headers and gRPC messages."""

import asyncio
from typing import Any

import h11
from google.protobuf.message import DecodeError
from uvicorn.config import Config
from uvicorn.server import ServerState

from bridle.core.errors import BridleError, UsageError
from bridle.core.protocol import Command
from bridle.sandbox.proxy import Refusal, parse_request
from bridle.surfaces.grpc.generated.kontekst_pb2 import (
    RunCommand,
    RunEvent,
)
from bridle.surfaces.grpc.run_starter import RunStarter
from bridle.surfaces.grpc.stream import RunStream
from bridle.surfaces.rest.connection import (
    MAX_HEAD_BYTES,
    ConnectionLimits,
    RestConnection,
    UnauthenticatedConnections,
)
from bridle.surfaces.rest.request_parser import parse_body
from tests.fuzz.target import MAX_INPUT_BYTES, Target
from tests.fuzz.targets.wires import chunks


def run_proxy(data: bytes) -> None:
    """Read a head as the proxy does: a refusal, or one request that cannot be taken for two."""
    head = data + b"\r\n\r\n"
    try:
        host, port, forwarded = parse_request(head[: head.index(b"\r\n\r\n") + 4])
    except Refusal:
        return
    assert host
    assert 0 < port < 65536
    if forwarded is not None:
        assert forwarded.endswith(b"\r\n\r\n")
        assert forwarded.count(b"\r\n\r\n") == 1
        assert sum(line.lower().startswith(b"host:") for line in forwarded.split(b"\r\n")) == 1


class _Wire:
    """A transport that records all writes."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.is_closed = False
        self.protocol: Any = None

    def write(self, data: bytes) -> None:
        assert not self.is_closed, "written after it was closed"
        self.written += data

    def close(self) -> None:
        self.is_closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.is_closed

    def get_protocol(self) -> Any:
        return self.protocol

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


async def _app(scope: Any, receive: Any, send: Any) -> None:
    """Read a small body and say yes."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def run_http(data: bytes) -> None:
    """Speak HTTP with a stranger: only complete answers, no internal error, limited memory."""
    wire, failures = _Wire(), []

    async def go() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        config = Config(
            _app,
            log_config=None,
            log_level="critical",
            lifespan="off",
            interface="asgi3",
            ws="none",
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        config.load()
        state = ServerState()
        connection = RestConnection(config, state, ConnectionLimits(), UnauthenticatedConnections(1))
        wire.protocol = connection
        connection.connection_made(wire)  # type: ignore[arg-type]
        for chunk in chunks(data):
            if wire.is_closed:
                break
            connection.data_received(chunk)
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(connection.conn.trailing_data[0]) <= MAX_HEAD_BYTES + MAX_INPUT_BYTES
        connection.connection_lost(None)
        for task in state.tasks:
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)

    asyncio.run(go())
    assert failures == []
    if wire.written:
        ours = h11.Connection(h11.CLIENT)
        ours.send(h11.Request(method="GET", target="/", headers=[("host", "a")]))
        ours.send(h11.EndOfMessage())
        ours.receive_data(bytes(wire.written))
        assert isinstance(ours.next_event(), h11.Response | h11.InformationalResponse)


def run_body(data: bytes) -> None:
    try:
        parse_body(data, Command)
    except UsageError as error:
        str(error).encode()


class _Closed:
    """A session API that refuses everything in a documented way."""

    def __getattr__(self, name: str) -> Any:
        async def refuse(*args: Any, **kwargs: Any) -> Any:
            raise BridleError(f"{name} does not exist")

        return refuse


def run_grpc(data: bytes) -> None:
    """Accept commands of a stream: its parser rejects invalid messages, all others get an answer."""
    commands = []
    for piece in data.split(b"%%"):
        try:
            commands.append(RunCommand.FromString(piece))
        except DecodeError:
            continue
    written: list[RunEvent] = []

    class Context:
        async def write(self, event: RunEvent) -> None:
            event.SerializeToString()
            written.append(event)

    async def all_of_them() -> Any:
        for command in commands:
            yield command
            await asyncio.sleep(0)

    async def go() -> None:
        api: Any = _Closed()
        starts = RunStarter(api, cwd="/", approvals="each", render_skill=None)
        context: Any = Context()
        async with asyncio.timeout(60):
            await RunStream(starts, context).serve(all_of_them())

    asyncio.run(go())
    for event in written:
        assert event.WhichOneof("event") == "failed"


TARGETS = (
    Target(
        name="proxy_head",
        run=run_proxy,
        modules=("bridle.sandbox.proxy",),
        tokens=(
            b"CONNECT ",
            b" HTTP/1.1",
            b"\r\n",
            b"Host: ",
            b"http://",
            b"Transfer-Encoding: chunked",
            b"\r",
            b"@",
        ),
    ),
    Target(
        name="http_head",
        run=run_http,
        modules=("bridle.surfaces.rest.connection",),
        tokens=(
            b"GET / HTTP/1.1\r\n",
            b"Host: a\r\n",
            b"\r\n\r\n",
            b"Content-Length: 5\r\n",
            b"Upgrade: websocket\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"5\r\nhello\r\n0\r\n\r\n",
            b"Connection: close\r\n",
            b"Expect: 100-continue\r\n",
        ),
    ),
    Target(
        name="rest_body",
        run=run_body,
        modules=("bridle.surfaces.rest.request_parser",),
        tokens=(b'"type":"prompt"', b'"message":', b'"parts":[', b'"options":{'),
        is_json=True,
    ),
    Target(
        name="grpc",
        run=run_grpc,
        modules=("bridle.surfaces.grpc.stream", "bridle.surfaces.grpc.run_starter"),
        tokens=(b"%%", b"\x0a\x02hi", b"\x12\x01s", b"\x22\x01/"),
    ),
)
