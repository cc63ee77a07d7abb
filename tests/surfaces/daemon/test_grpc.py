"""Each course of a run over Kontekst's wire: a real daemon, and a client that knows only the tables."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from bridle.core.queries import IsRunning, ListSessions
from tests.surfaces.daemon.process import DaemonProcess
from tests.surfaces.grpc.client import Run, Told, make, messages

LIST = {"name": "read_file", "args": {"path": "a.txt"}}
WRITE = {"name": "write_file", "args": {"path": "new.txt", "content": "new"}}
SLEEP = {"name": "bash", "args": {"command": "sleep 60"}}
DEADLINE_S = 5.0


class Wire:
    """A daemon with a script, and channels to it."""

    def __init__(self, daemon: DaemonProcess, project: Path, channel: grpc.aio.Channel) -> None:
        self.daemon = daemon
        self.project = project
        token = daemon.place.token.read_text().strip()
        self.metadata = (("authorization", f"Bearer {token}"),)
        self.channel = channel

    def stream(self) -> Run:
        return Run(self.channel, self.metadata)

    async def start(self, prompt: str, **fields: str) -> Run:
        run = self.stream()
        await run.start(prompt, working_dir=str(self.project), **fields)
        return run

    async def ask(self, method: str, request: str, answer: str) -> Any:
        call = self.channel.unary_unary(
            f"/kontekst.DaemonService/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=messages()[f"kontekst.{answer}"].FromString,
        )
        return await call(make(request), metadata=self.metadata)


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    """Yield a daemon whose model answers by what it is asked."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("a")
    replies = [
        {"match": "^plain", "text": "Hello."},
        {"match": "^list", "text": "I look.", "calls": [LIST]},
        {"match": "^list", "text": "There is one."},
        {"match": "^write", "calls": [WRITE, LIST]},
        {"match": "^write", "text": "Written."},
        {"match": "^unknown", "calls": [{"name": "nothing", "args": {}}]},
        {"match": "^unknown", "text": "Then not."},
        {"match": "^sleep", "calls": [SLEEP]},
        {"match": "^think", "text": "Let me", "fault": {"kind": "hang"}},
    ]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": replies}))
    daemon = DaemonProcess(tmp_path / "home", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    daemon.place.make_folders()
    (daemon.place.home / "config.toml").write_text(
        f'model = "scripted/{script}"\n[grpc]\nbind = "127.0.0.1:0"\n'
    )
    await daemon.start()
    try:
        async with daemon.reached() as client:
            [listening] = [one for one in (await client.status()).listening if one.startswith("grpc ")]
        async with grpc.aio.insecure_channel(listening.removeprefix("grpc ")) as channel:
            yield Wire(daemon, project, channel)
    finally:
        daemon.close()


def kinds(told: list[Told]) -> list[str]:
    """Return the events without fragments."""
    return [kind for kind, _ in told if kind != "token"]


async def until(run: Run, *wanted: str) -> list[Told]:
    async with asyncio.timeout(DEADLINE_S):
        return await run.until(*wanted)


def calls_of(told: list[Told]) -> list[str]:
    return [call["call_id"] for call in told[-1][1]["calls"]]


async def test_a_plain_answer(wire: Wire):
    run = await wire.start("plain")
    told = await until(run, "completed")
    after, code = await run.end()

    assert kinds(told) == ["started", "turn_completed", "context_snapshot", "completed"]
    assert told[-1][1]["content"] == "Hello."
    assert "".join(fields["text"] for kind, fields in told if kind == "token") == "Hello."
    assert (after, code) == ([], grpc.StatusCode.OK)


async def test_a_call_is_proposed_approved_and_told(wire: Wire):
    run = await wire.start("list")
    asked = await until(run, "tools_proposed")
    await run.approve("no such call")
    await run.approve(calls_of(asked)[0])
    told = await until(run, "completed")

    assert kinds(asked) == ["started", "turn_completed", "context_snapshot", "tools_proposed"]
    assert kinds(told) == [
        "tool_started",
        "tool_completed",
        "tools_completed",
        "turn_completed",
        "context_snapshot",
        "completed",
    ]
    assert told[-1][1]["content"] == "There is one."


async def test_a_denied_call_ends_the_run_and_the_approved_one_runs(wire: Wire):
    run = await wire.start("write")
    asked = await until(run, "tools_proposed")
    write, look = calls_of(asked)
    await run.deny(write, "not that")
    await run.approve(look)
    told = await until(run, "completed")

    assert kinds(told) == ["tool_started", "tool_completed", "tools_completed", "completed"]
    assert "content" not in told[-1][1]
    assert not (wire.project / "new.txt").exists()


async def test_an_unknown_tool_is_proposed_fails_and_the_run_goes_on(wire: Wire):
    run = await wire.start("unknown")
    asked = await until(run, "tools_proposed")
    await run.approve(calls_of(asked)[0])
    told = await until(run, "completed")

    assert [kind for kind in kinds(told) if kind.startswith("tool")] == [
        "tool_started",
        "tool_failed",
        "tools_completed",
    ]
    assert told[-1][1]["content"] == "Then not."


@pytest.mark.parametrize("prompt", ["list", "sleep", "think"])
async def test_a_cancel_is_heeded_at_once(wire: Wire, prompt: str):
    run = await wire.start(prompt)
    if prompt == "think":
        await until(run, "token")
    else:
        asked = await until(run, "tools_proposed")
    if prompt == "sleep":
        await run.approve(calls_of(asked)[0])
        await until(run, "tool_started")
    await run.cancel()
    told = await until(run, "cancelled")

    assert told[-1][0] == "cancelled"


async def test_a_second_start_is_refused_and_the_first_run_goes_on(wire: Wire):
    run = await wire.start("list")
    asked = await until(run, "tools_proposed")
    await run.start("plain")
    refused = await until(run, "failed")
    await run.approve(calls_of(asked)[0])
    told = await until(run, "completed")

    assert refused[-1] == ("failed", {"error": "run already started"})
    assert told[-1][1]["content"] == "There is one."


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (
            {"agent_name": "ghost"},
            "agent not found: ghost; available: coder, default, planner, researcher, reviewer",
        ),
        (
            {"session_id": "../evil"},
            '"../evil" cannot name a session (hint: use letters, digits, dots and dashes)',
        ),
    ],
    ids=["agent", "session"],
)
async def test_a_start_that_fails_leaves_the_stream_open_for_another(
    wire: Wire, fields: dict[str, str], error: str
):
    run = await wire.start("plain", **fields)
    refused = await until(run, "failed")
    await run.start("plain", working_dir=str(wire.project))
    told = await until(run, "completed")

    assert "run_id" not in refused[-1][1]
    assert refused[-1][1]["error"] == error
    assert told[-1][1]["content"] == "Hello."
    assert not list(wire.daemon.place.home.parent.glob("evil*"))


async def test_a_client_that_hangs_up_leaves_the_run_and_another_goes_on_in_the_session(wire: Wire):
    run = await wire.start("list", session_id="sess_20260101T000000.000000001_0123456789ab")
    asked = await until(run, "tools_proposed")
    after, code = await run.end()
    assert (after, code) == ([], grpc.StatusCode.OK)
    async with wire.daemon.reached() as client:
        [session] = (await client.status()).sessions
        assert session.state == "waiting"
        assert session.id == asked[0][1]["session_id"]


async def test_two_runs_at_once_do_not_wait_for_each_other(wire: Wire):
    first, second = await wire.start("list"), await wire.start("plain")
    asked = await until(first, "tools_proposed")
    assert (await until(second, "completed"))[-1][1]["content"] == "Hello."
    await first.approve(calls_of(asked)[0])
    assert (await until(first, "completed"))[-1][1]["content"] == "There is one."


async def test_the_daemon_tells_how_it_is_and_ends_when_it_is_asked_to(wire: Wire):
    status = await wire.ask("GetStatus", "GetStatusRequest", "GetStatusResponse")
    ended = await wire.ask("Shutdown", "ShutdownRequest", "ShutdownResponse")

    assert (status.bind, status.data_dir) == ("127.0.0.1:0", str(wire.daemon.place.home))
    assert status.uptime_seconds >= 0
    assert ended.message == "shutting down"
    assert wire.daemon.ask_to_end() == 0


async def test_without_the_token_nobody_is_let_in(wire: Wire):
    run = Run(wire.channel)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await run.call.read()
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_a_run_goes_on_after_kill_9_of_the_daemon(wire: Wire):
    run = await wire.start("list", session_id="cut-off")
    await until(run, "tools_proposed")
    wire.daemon.kill()
    await wire.daemon.start()
    async with wire.daemon.reached() as client:
        [summary] = await client.ask(ListSessions())
        assert (summary.id, summary.unfinished) == ("cut-off", True)
        assert not await client.ask(IsRunning(summary.id))
