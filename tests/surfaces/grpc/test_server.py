"""The server around the streams: daemon calls, the token, the socket, limits, rude clients."""

import asyncio
import stat
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import Message, Text, Usage
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import Delta, RunEnded, TextDelta
from bridle.surfaces.grpc import serve_grpc
from bridle.surfaces.grpc.server import MAX_COMMAND_BYTES
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.grpc.client import Daemon, Run, make, serving

KIB = 1024


class Flood:
    """A provider that streams far more than a connection or a backlog takes, without waiting for anybody."""

    def __init__(self, pieces: int, piece: str) -> None:
        self._pieces = [piece] * pieces

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        for number, piece in enumerate(self._pieces):
            yield TextDelta(piece)
            if number % 10 == 0:
                await asyncio.sleep(0)  # others get their turn, as with a real connection
        yield ModelReply(Message("assistant", (Text("Flooded."),)), "end_turn", Usage(input=1, output=1))

    async def aclose(self) -> None:
        pass


def streams() -> list[asyncio.Task[Any]]:
    """Return what works for Run streams in this process."""
    return [task for task in asyncio.all_tasks() if "RunStream" in repr(task) or "AgentService" in repr(task)]


async def test_the_status_is_told():
    async with Stage(Play()) as stage, serving(stage.service) as served:
        status = await served.ask("GetStatus", make("GetStatusRequest"), "GetStatusResponse")

    assert status == make(
        "GetStatusResponse",
        bind="127.0.0.1:50051",
        endpoint="http://127.0.0.1:8080",
        model_dir="/models",
        llama_server_healthy=True,
        llama_server_running=True,
        llama_server_pid=4242,
        uptime_seconds=61,
        started_at_rfc3339="2026-01-02T03:04:05Z",
        data_dir="/data",
    )


async def test_a_shutdown_is_passed_on_and_answered():
    async with Stage(Play()) as stage, serving(stage.service) as served:
        answer = await served.ask("Shutdown", make("ShutdownRequest"), "ShutdownResponse")
        asked = served.daemon.asked.is_set()

    assert (answer, asked) == (make("ShutdownResponse", message="shutting down"), True)


async def test_a_server_that_closes_ends_its_streams_and_not_the_runs():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage:
        async with serving(stage.service) as served:
            run = served.run()
            await run.start("hello", session_id="play")
            await run.until("token")
            await served.server.aclose()
            with pytest.raises((grpc.aio.AioRpcError, asyncio.CancelledError)):
                await run.read()
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await served.ask("GetStatus", make("GetStatusRequest"), "GetStatusResponse")
        play.go.set()
        ended = await stage.until(RunEnded)

    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    assert ended.outcome == "completed"


# ---------------------------------------------------------------------------- who gets in


async def test_with_a_token_only_who_has_it_gets_in():
    async with Stage(Play(says("Hello."))) as stage, serving(stage.service, token="s3cret") as served:
        codes = []
        for given in ({}, {"authorization": "Bearer other"}, {"authorization": "s3cret"}):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await served.run(**given).read()
            codes.append(refused.value.code())
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await served.ask("GetStatus", make("GetStatusRequest"), "GetStatusResponse")
        run = served.run(authorization="Bearer s3cret")
        await run.start("hello")
        told = await run.until("completed")

    assert [*codes, refused.value.code()] == [grpc.StatusCode.UNAUTHENTICATED] * 4
    assert refused.value.details() == "the token is missing or wrong (hint: authorization: Bearer TOKEN)"
    assert told[-1][1]["content"] == "Hello."


async def test_a_socket_file_is_private():
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "grpc.sock"
        async with Stage(Play(says("Hello."))) as stage, serving(stage.service, f"unix:{socket}") as served:
            mode = stat.S_IMODE(socket.stat().st_mode)
            run = served.run()
            await run.start("hello")
            told = await run.until("completed")

    assert mode == 0o600
    assert told[-1][1]["content"] == "Hello."


async def test_a_port_that_is_taken_is_an_error():
    async with Stage(Play()) as stage, serving(stage.service) as served:
        taken = f"127.0.0.1:{served.server.port}"
        with pytest.raises(UsageError, match=f"cannot listen at {taken}"):
            await serve_grpc(stage.service, Daemon(), address=taken, cwd="/")


async def test_the_services_can_be_found_and_asked_for_their_health():
    async with Stage(Play()) as stage, serving(stage.service) as served:
        health = health_pb2_grpc.HealthStub(served.channel)
        names = ["", "kontekst.AgentService", "kontekst.DaemonService"]
        found = [await health.Check(health_pb2.HealthCheckRequest(service=name)) for name in names]
        asked = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="kontekst.RunEvent"),
        ]
        stub = reflection_pb2_grpc.ServerReflectionStub(served.channel)
        listed, described = [answer async for answer in stub.ServerReflectionInfo(iter(asked))]

    assert [answer.status for answer in found] == [health_pb2.HealthCheckResponse.SERVING] * 3
    assert sorted(service.name for service in listed.list_services_response.service) == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
        "kontekst.AgentService",
        "kontekst.DaemonService",
    ]
    [file] = described.file_descriptor_response.file_descriptor_proto
    assert descriptor_pb2.FileDescriptorProto.FromString(file).package == "kontekst"


# ---------------------------------------------------------------------------- too much


async def test_a_command_that_is_too_large_ends_its_stream_only():
    async with Stage(Play(says("Hello."))) as stage, serving(stage.service) as served:
        run, other = served.run(), served.run()
        await run.start("x" * MAX_COMMAND_BYTES)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await run.read()
        await other.start("hello")
        told = await other.until("completed")

    assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert told[-1][1]["content"] == "Hello."


async def test_garbage_ends_its_stream_only():
    async with Stage(Play(says("Hello."))) as stage, serving(stage.service) as served:
        raw = served.channel.stream_stream("/kontekst.AgentService/Run")()
        await raw.write(b"\xff\xff\xff garbage")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await raw.read()
        run = served.run()
        await run.call.write(make("RunCommand"))  # no command at all
        await run.start("hello")
        told = await run.until("completed")

    assert refused.value.code() in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
    assert told[-1][1]["content"] == "Hello."


async def test_a_slow_reader_misses_tokens_and_no_other_event():
    async with Stage(Flood(20_000, "x" * KIB)) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("flood me", session_id="play")
        ended = await stage.until(RunEnded)  # no one waits for who does not read
        told = await run.until("completed")

    tokens = [event for event in told if event[0] == "token"]
    assert ended.outcome == "completed"
    assert len(tokens) < 20_000
    assert [kind for kind, _ in told if kind != "token"] == [
        "started",
        "turn_completed",
        "context_snapshot",
        "completed",
    ]
    assert told[-1][1]["content"] == "Flooded."


@pytest.mark.parametrize("how", ["closes", "vanishes"])
async def test_who_leaves_without_reading_leaves_nothing_behind(how: str):
    async with Stage(Flood(20_000, "x" * KIB)) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("flood me", session_id="play")
        await stage.until(RunEnded)
        if how == "vanishes":
            run.call.cancel()
        else:
            told, code = await run.end()
            assert code == grpc.StatusCode.OK
            assert "completed" not in [kind for kind, _ in told]
        if left := streams():
            await asyncio.wait(left, timeout=5)
        still, watchers = streams(), stage.service._bus.watchers(stage.session)

    assert (still, watchers) == ([], 0)


async def test_two_hundred_streams_at_once():
    """Each waits for its approval while all the others do."""
    looked = asyncio.Barrier(200)

    async def work(on: str) -> str:
        await looked.wait()
        return f"saw {on}"

    async def one(run: Run, number: int) -> list[Any]:
        await run.start("look", session_id=f"s{number}")
        told = await run.until("tools_proposed")
        await run.approve("c1")
        return told + await run.until("completed", "failed")

    play = Play(says("", call("c1", "look")), says("Done."))
    async with (
        Stage(play, tools=[SmallTool("look", work)]) as stage,
        serving(stage.service) as served,
    ):
        all_told = await asyncio.gather(*(one(served.run(), number) for number in range(200)))
        ends = [(await read_session(stage.service, SessionId(f"s{number}"))).last for number in range(200)]

    kinds = [kind for kind, _ in all_told[0]]
    assert [[kind for kind, _ in told] for told in all_told] == [kinds] * 200
    assert [told[0][1]["session_id"] for told in all_told] == [f"s{number}" for number in range(200)]
    assert {end.outcome for end in ends if end is not None} == {"completed"}
