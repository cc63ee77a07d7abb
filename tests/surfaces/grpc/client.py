"""A Kontekst client independent of Bridle: compiled from `client.proto` on first use."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.json_format import MessageToDict
from grpc_tools import protoc
from msgspec.structs import replace

from bridle.core.errors import ConfigError
from bridle.sessions.service import SessionService
from bridle.surfaces.grpc import DaemonStatus, GrpcServer, serve_grpc
from tests.sessions.stage import Stage

PROTO = Path(__file__).with_name("client.proto")
STATUS = DaemonStatus(
    bind="127.0.0.1:50051",
    started_at=1_767_323_045_678,
    uptime_s=61,
    data_dir="/data",
    endpoint="http://127.0.0.1:8080",
    model_dir="/models",
    llama_healthy=True,
    llama_running=True,
    llama_pid=4242,
)

Told = tuple[str, dict[str, Any]]
"""An event: its name, and its fields that are not empty."""


@cache
def messages() -> dict[str, Any]:
    """Compile the proto into message classes, in a pool separate from the server's."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "client.bin"
        status = protoc.main(["protoc", f"-I{PROTO.parent}", f"--descriptor_set_out={target}", PROTO.name])
        assert status == 0
        found = descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    return message_factory.GetMessageClassesForFiles([PROTO.name], _filled(pool, found))


def _filled(pool: Any, found: Any) -> Any:
    for file in found.file:
        pool.Add(file)
    return pool


def make(name: str, /, **fields: Any) -> Any:
    """Make a message."""
    return messages()[f"kontekst.{name}"](**fields)


class Run:
    """One stream, and what came through it."""

    def __init__(self, channel: grpc.aio.Channel, metadata: tuple[tuple[str, str], ...] = ()) -> None:
        self.call = channel.stream_stream(
            "/kontekst.AgentService/Run",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=messages()["kontekst.RunEvent"].FromString,
        )(metadata=metadata)

    async def start(self, prompt: str = "", *, skill: tuple[str, str] | None = None, **fields: str) -> None:
        invocation = (
            {} if skill is None else {"skill": make("SkillInvocation", name=skill[0], arguments=skill[1])}
        )
        command = make("StartRunCommand", prompt=prompt, **fields, **invocation)
        await self.call.write(make("RunCommand", start=command))

    async def approve(self, call_id: str) -> None:
        await self.call.write(make("RunCommand", approve_tool=make("ApproveToolCommand", call_id=call_id)))

    async def deny(self, call_id: str, reason: str = "") -> None:
        command = make("DenyToolCommand", call_id=call_id, reason=reason)
        await self.call.write(make("RunCommand", deny_tool=command))

    async def cancel(self) -> None:
        await self.call.write(make("RunCommand", cancel=make("CancelRunCommand")))

    async def read(self) -> Any | None:
        """Return the next message, or None when the server has ended the stream."""
        event = await self.call.read()
        return None if event is grpc.aio.EOF else event

    async def next(self) -> Told:
        """Return the next event in plain words; the numbers of the window are left out."""
        event = await self.read()
        assert event is not None, await self.call.code()
        kind = event.WhichOneof("event")
        fields = MessageToDict(getattr(event, kind), preserving_proto_field_name=True)
        if kind in ("turn_completed", "context_snapshot"):
            assert fields.pop("context")["total_messages"] >= 3
        return kind, fields

    async def until(self, *kinds: str) -> list[Told]:
        """Return the events up to the first of one of these kinds."""
        told = [await self.next()]
        while told[-1][0] not in kinds:
            told.append(await self.next())
        return told

    async def end(self) -> tuple[list[Told], grpc.StatusCode]:
        """Close this side; return what still came, and how the server ended the stream."""
        await self.call.done_writing()
        told = []
        while (event := await self.read()) is not None:
            kind = event.WhichOneof("event")
            told.append((kind, MessageToDict(getattr(event, kind), preserving_proto_field_name=True)))
        return told, await self.call.code()


class Daemon:
    """A daemon that is well, and remembers that it was asked to end."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def status(self) -> DaemonStatus:
        return STATUS

    def request_shutdown(self) -> None:
        self.asked.set()


class Served:
    """A server on a stage, and a channel to it."""

    def __init__(self, server: GrpcServer, daemon: Daemon, channel: grpc.aio.Channel) -> None:
        self.server = server
        self.daemon = daemon
        self.channel = channel

    def run(self, **metadata: str) -> Run:
        return Run(self.channel, tuple(metadata.items()))

    async def ask(self, method: str, request: Any, answer: str) -> Any:
        """Call a method of DaemonService."""
        call = self.channel.unary_unary(
            f"/kontekst.DaemonService/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=messages()[f"kontekst.{answer}"].FromString,
        )
        return await call(request)


@asynccontextmanager
async def serving(
    service: SessionService, address: str = "127.0.0.1:0", **options: Any
) -> AsyncIterator[Served]:
    """Serve sessions until the end of the block."""
    daemon = Daemon()
    server = await serve_grpc(service, daemon, address=address, **{"cwd": "/", **options})
    target = address if address.startswith("unix:") else f"127.0.0.1:{server.port}"
    try:
        async with grpc.aio.insecure_channel(target) as channel:
            yield Served(server, daemon, channel)
    finally:
        await server.aclose()


def with_agents(stage: Stage, *names: str) -> SessionService:
    """Return a service that knows these agents only."""
    engine = stage.service._engine
    load: Callable[..., Any] = engine.load_agent

    def load_agent(name: str, cwd: str) -> Any:
        if name not in names:
            raise ConfigError(f"agent not found: {name}; available: {', '.join(names)}")
        return replace(load(name, cwd), name=name)

    return SessionService(replace(engine, load_agent=load_agent))
