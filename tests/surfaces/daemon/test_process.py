"""The life of a real daemon: what ends it, what does not, and what remains of its runs."""

import asyncio
import json
import os
import resource
import signal
import sqlite3
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bridle.core.errors import DaemonGone, StoreError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Decide,
    Prompt,
    Record,
    Resume,
    RunEnded,
    RunOptions,
    ToolFinished,
    ToolStarted,
)
from bridle.core.queries import IsRunning, ListSessions, Records
from bridle.surfaces.daemon import launcher
from bridle.surfaces.remote.client import RemoteService, connect, say_hello
from bridle.surfaces.shared.session_calls import read_session, wait_for_run
from tests.patience import PATIENCE_S
from tests.surfaces.daemon.process import DaemonProcess, descendants, seen, until, until_gone

WRITE = {"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "a"}}]}
APPEND = {"calls": [{"name": "bash", "args": {"command": "echo once >> log.txt"}}]}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def script(tmp_path: Path, *replies: dict[str, Any]) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"replies": replies}))
    return f"scripted/{path}"


def configure(daemon: DaemonProcess, text: str) -> None:
    (daemon.place.home / "config.toml").write_text(text)


async def finished(client: RemoteService, session: SessionId, command: Prompt | Resume) -> tuple[str, str]:
    receipt = await client.submit(session, command)
    assert receipt.run_id is not None
    ended = await wait_for_run(client, session, receipt.run_id, receipt.seq)
    return ended.outcome, ended.text or ended.reason


# ---------------------------------------------------------------------------- its end


async def test_a_terminal_that_closes_is_not_the_end(daemon: DaemonProcess):
    await daemon.start()
    daemon.send(signal.SIGHUP)
    async with daemon.reached() as client:
        assert (await client.status()).pid == daemon.pid
    assert stat.S_IMODE(daemon.place.socket.stat().st_mode) == 0o600
    assert daemon.ask_to_end() == 0

    log = daemon.place.log.read_text().splitlines()
    said = [line.partition("bridle.daemon: ")[2] for line in log if "bridle.daemon" in line]
    assert said[-2:] == ["shutting down", "ended"]
    assert not daemon.place.socket.exists()


async def test_a_run_that_ends_in_time_is_ended(daemon: DaemonProcess, project: Path, tmp_path: Path):
    model = script(tmp_path, {"text": "done", "delay_ms": 300})
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        receipt = await client.submit(session, Prompt(user_message("hi"), RunOptions(model=model)))
        assert receipt.run_id is not None
        await client.shutdown()
        with pytest.raises(ConnectionRefusedError):
            await connect(str(daemon.place.socket), client.daemon.version)
        assert (await wait_for_run(client, session, receipt.run_id, receipt.seq)).outcome == "completed"
        await client.until_gone()
        with pytest.raises(DaemonGone, match="the daemon has ended"):
            await client.ask(ListSessions())
    assert daemon.wait() == 0


async def test_a_run_that_does_not_end_in_time_is_put_aside_and_nothing_is_done_twice(
    daemon: DaemonProcess, project: Path, tmp_path: Path
):
    model = script(tmp_path, APPEND, {"text": "done", "delay_ms": 700})
    configure(daemon, '[serve]\nshutdown_timeout = "10ms"\n')
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        options = RunOptions(model=model, allow=("bash",))
        await client.submit(session, Prompt(user_message("hi"), options))
        await seen(client, session, ToolFinished)
        daemon.send(signal.SIGTERM)
        await client.until_gone()
    assert daemon.wait() == 0

    await daemon.start()
    async with daemon.reached() as client:
        assert (await read_session(client, session)).run is not None
        assert not await client.ask(IsRunning(session))
        assert await finished(client, session, Resume()) == ("completed", "done")
        events = [record.event for record in await client.ask(Records(session))]
    assert daemon.ask_to_end() == 0

    assert (project / "log.txt").read_text() == "once\n"
    assert sum(isinstance(event, ToolStarted) for event in events) == 1
    assert [event.outcome for event in events if isinstance(event, RunEnded)] == ["completed"]


@pytest.mark.parametrize("is_killed", [False, True], ids=["SIGTERM", "SIGKILL"])
@pytest.mark.parametrize(
    "call",
    [
        {"name": "bash", "args": {"command": "echo begun >> log.txt; sleep 60"}},
        {"name": "python", "args": {"code": "import os; os.system('echo begun >> log.txt; sleep 60')"}},
    ],
    ids=["shell", "kernel"],
)
async def test_a_tool_that_is_cut_off_is_ended_and_said_to_be(
    daemon: DaemonProcess, project: Path, tmp_path: Path, call: dict[str, Any], is_killed: bool
):
    slow = {"calls": [call]}
    model = script(tmp_path, slow, {"text": "It says: {last_tool_result}"})
    configure(daemon, '[serve]\nshutdown_timeout = "10ms"\n')
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        await client.submit(
            session, Prompt(user_message("hi"), RunOptions(model=model, allow=("bash", "python")))
        )
        await until((project / "log.txt").exists)
        children = descendants(daemon.pid)
    if is_killed:
        daemon.kill()
    else:
        assert daemon.ask_to_end() == 0
    await until_gone(children)

    await daemon.start()
    async with daemon.reached() as client:
        outcome, text = await finished(client, session, Resume())

    assert children
    assert (outcome, (project / "log.txt").read_text()) == ("completed", "begun\n")
    assert "interrupted" in text


async def test_a_question_that_is_open_is_asked_again(daemon: DaemonProcess, project: Path, tmp_path: Path):
    model = script(tmp_path, WRITE, {"text": "done"})
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        await client.submit(session, Prompt(user_message("hi"), RunOptions(model=model)))
        first = await seen(client, session, ApprovalRequested)
        assert [one.state for one in (await client.status()).sessions] == ["waiting"]
    assert daemon.ask_to_end() == 0  # at once: a person may take hours

    await daemon.start()
    async with daemon.reached() as client:
        last = (await client.ask(Records(session)))[-1].seq
        receipt = await client.submit(session, Resume())
        assert receipt.run_id is not None
        async for item in client.watch(session, last):
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                again = item.event
                break
        assert not (project / "a.txt").exists()
        await client.submit(session, Decide(again.call_id, "once"))
        ended = await wait_for_run(client, session, receipt.run_id, last)

    assert isinstance(first, ApprovalRequested)
    assert (again.call_id, again.args) == (first.call_id, first.args)
    assert (ended.outcome, (project / "a.txt").read_text()) == ("completed", "a")


# ---------------------------------------------------------------------------- sessions in memory


async def test_an_idle_session_is_put_away_and_comes_back_with_its_variables(
    daemon: DaemonProcess, project: Path, tmp_path: Path
):
    model = script(
        tmp_path,
        {"text": "```python\nx = 41\n```"},
        {"text": "set"},
        {"text": "```python\nx + 1\n```"},
        {"text": "read"},
    )
    configure(daemon, '[serve]\nidle = "1ms"\n')
    options = RunOptions(model=model, code=True, allow=("python",))
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        assert await finished(client, session, Prompt(user_message("set x"), options)) == ("completed", "set")
        kernels = descendants(daemon.pid)
        await until_true(lambda: _live(client), set())
        await until_gone(kernels)
        assert await finished(client, session, Prompt(user_message("read x"), options)) == (
            "completed",
            "read",
        )
        events = [record.event for record in await client.ask(Records(session))]

    assert kernels
    assert [event.result.output for event in events if isinstance(event, ToolFinished)] == [
        "[no output]",
        "42\n[a new kernel, with the variables of the last one]",
    ]


async def test_who_stops_it_waits_as_long_as_its_runs_may_take(
    daemon: DaemonProcess, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(launcher, "STOP_S", 0.9)
    configure(daemon, '[serve]\nshutdown_timeout = "1s"\n')
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        model = script(tmp_path, {"fault": {"kind": "hang"}})
        await client.submit(session, Prompt(user_message("hi"), RunOptions(model=model)))
        stopped = await launcher.end_daemon(daemon.place, 1.0)

    assert stopped == daemon.pid


async def test_a_session_that_is_watched_is_not_put_away(
    daemon: DaemonProcess, project: Path, tmp_path: Path
):
    model = script(tmp_path, {"text": "hello"})
    configure(daemon, '[serve]\nidle = "1ms"\n')
    await daemon.start()
    async with daemon.reached() as client:
        watched, other = await client.create(cwd=str(project)), await client.create(cwd=str(project))
        watch = client.watch(watched)
        await anext(watch)
        for session in (watched, other):
            await finished(client, session, Prompt(user_message("hi"), RunOptions(model=model)))
        await until_true(lambda: _live(client), {watched})
        await watch.aclose()
        await until_true(lambda: _live(client), set())


async def _live(client: RemoteService) -> set[SessionId]:
    return {one.id for one in (await client.status()).sessions}


async def until_true(read: Callable[[], Awaitable[Any]], wanted: Any) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while await read() != wanted:  # noqa: ASYNC110  another process gives no event
            await asyncio.sleep(0.02)


# ---------------------------------------------------------------------------- hard times


async def test_a_thousand_connections_come_and_go(daemon: DaemonProcess, project: Path, tmp_path: Path):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))  # for our own ends of them
    model = script(tmp_path, {"text": "hello"})
    await daemon.start()
    descriptors = Path(f"/proc/{daemon.pid}/fd")
    async with daemon.reached() as client:
        before = await client.status()
        few = len(os.listdir(descriptors))
        rough = [await asyncio.open_unix_connection(daemon.place.socket) for _ in range(1000)]
        for _, writer in rough[::2]:
            writer.write(b"\xff garbage " * 1000)
        answers = [msgspec.json.decode(await reader.readline()) for reader, _ in rough[::2]]
        assert {answer["refusal"] for answer in answers} == {"not a Bridle client"}

        session = await client.create(cwd=str(project))
        prompt = Prompt(user_message("hi"), RunOptions(model=model))
        assert await finished(client, session, prompt) == ("completed", "hello")
        async with daemon.reached() as another:
            assert (await another.status()).clients >= 500
        for _, writer in rough:
            writer.close()
        await until(lambda: len(os.listdir(descriptors)) <= few + 5)  # of the session that was opened
        after = await client.status()

    assert after.clients == 1
    assert after.memory_bytes - before.memory_bytes < 32 * 1024 * 1024
    assert "Traceback" not in daemon.place.log.read_text()


async def test_a_full_disk_is_an_error_and_loses_nothing(
    daemon: DaemonProcess, project: Path, tmp_path: Path
):
    model = script(tmp_path, {"text": "one"}, {"text": "two " * 20_000}, {"text": "three"})
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        prompt = Prompt(user_message("hi"), RunOptions(model=model))
        assert await finished(client, session, prompt) == ("completed", "one")
        kept = await client.ask(Records(session))
        sizes = [path.stat().st_size for path in daemon.place.home.glob("bridle.db*")]
        none = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (max(sizes), resource.RLIM_INFINITY))
        with pytest.raises(StoreError, match=r"bridle\.db: disk I/O error"):
            await _fill(client)
        assert (await client.ask(Records(session)))[: len(kept)] == kept
        assert (await client.status()).pid == daemon.pid

        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, none)
        fresh = await client.create(cwd=str(project))
        assert await finished(client, fresh, prompt) == ("completed", "one")
    assert daemon.ask_to_end() == 0
    with sqlite3.connect(daemon.place.home / "bridle.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)


async def _fill(client: RemoteService) -> None:
    for _ in range(1000):
        await client.create(cwd="/", title="x" * 10_000)


async def test_who_comes_by_tcp_must_know_the_token(daemon: DaemonProcess):
    configure(daemon, '[serve]\ntcp = "127.0.0.1:0"\n')
    await daemon.start()
    async with daemon.reached() as client:
        status = await client.status()
    [listening] = status.listening
    host, _, port = listening.removeprefix("tcp ").rpartition(":")

    with pytest.raises(DaemonGone, match="the token is wrong"):
        await say_hello(*await asyncio.open_connection(host, int(port)), status.version, "0" * 64)
    connection = await asyncio.open_connection(host, int(port))
    client = await say_hello(*connection, status.version, daemon.place.load_token())
    assert (await client.status()).pid == daemon.pid
    await client.aclose()


async def test_an_answer_to_a_call_that_nobody_asks_about_does_nothing(
    daemon: DaemonProcess, project: Path, tmp_path: Path
):
    model = script(tmp_path, WRITE, {"text": "done"})
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        receipt = await client.submit(session, Prompt(user_message("hi"), RunOptions(model=model)))
        assert receipt.run_id is not None
        asked = await seen(client, session, ApprovalRequested)
        await client.submit(session, Decide(CallId("nobody"), "once"))
        assert not (project / "a.txt").exists()
        await client.submit(session, Decide(asked.call_id, "once"))
        ended = await wait_for_run(client, session, receipt.run_id)

    assert (ended.outcome, ended.text) == ("completed", "done")
