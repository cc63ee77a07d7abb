"""`bridle attach`: join a run from another terminal, answer it, leave it, and join again."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, Cancel, Record, RunEnded, ToolStarted
from bridle.core.queries import ListSessions, Records
from bridle.surfaces.remote.client import RemoteService
from tests.patience import PATIENCE_S
from tests.surfaces.command import Bridle, Done, steady
from tests.surfaces.daemon.process import DaemonProcess

WRITE = {"text": "I write.", "calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]}
DONE = {"text": "All done."}


@pytest.fixture
def daemon(bridle: Bridle) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(bridle.home, bridle.env)
    yield daemon
    daemon.close()


async def begun(client: RemoteService) -> SessionId:
    """Wait for the first session."""
    while not (sessions := await client.ask(ListSessions())):  # noqa: ASYNC110  another process begins it
        await asyncio.sleep(0.01)
    return sessions[0].id


async def asked(client: RemoteService) -> SessionId:
    """Wait until the only session asks for approval."""
    session = await begun(client)
    async for item in client.watch(session):
        if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
            return session
    raise AssertionError


async def ended(client: RemoteService, session: SessionId) -> RunEnded:
    async for item in client.watch(session):
        if isinstance(item, Record) and isinstance(item.event, RunEnded):
            return item.event
    raise AssertionError


async def test_the_first_window_is_killed_and_the_second_answers(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    model = bridle.script(WRITE, DONE)
    async with daemon.reached() as client:
        with bridle.terminal("run", "--model", model, "write") as first:
            first.expect("stop the run\n> ")
            session = await asked(client)
            with bridle.terminal("attach", session) as second:
                second.expect("I write.")  # what was said before it came
                second.expect("stop the run\n> ")
                os.kill(first.process.pid, signal.SIGKILL)
                first.process.wait()
                assert not (bridle.project / "a.txt").exists()
                second.send("y")
                second.expect("All done.")
                code = second.finish()
        run = await ended(client, session)
        events = [record.event for record in await client.ask(Records(session))]

    assert (code, run.outcome, run.text) == (0, "completed", "All done.")
    assert (bridle.project / "a.txt").read_text() == "a\n"
    assert sum(isinstance(event, ToolStarted) for event in events) == 1


async def test_an_answer_in_one_window_takes_the_question_off_the_other(
    daemon: DaemonProcess, bridle: Bridle
):
    await daemon.start()
    with bridle.terminal("run", "--model", bridle.script(WRITE, DONE), "write") as first:
        first.expect("stop the run\n> ")
        async with daemon.reached() as client:
            session = await asked(client)
        with bridle.terminal("attach", session) as second:
            second.expect("stop the run\n> ")
            second.send("y")
            assert second.finish() == 0
        first.expect("All done.")
        assert first.finish() == 0


async def test_ctrl_c_leaves_and_the_run_goes_on(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    with bridle.terminal("run", "--model", bridle.script(WRITE, DONE), "write") as first:
        first.expect("stop the run\n> ")
        async with daemon.reached() as client:
            session = await asked(client)
            with bridle.terminal("attach", session) as second:
                modes = second.modes()
                second.expect("stop the run\n> ")
                second.interrupt()
                code = second.finish()
                assert second.modes() == modes
            assert [one.state for one in (await client.status()).sessions] == ["waiting"]
            first.send("y")
            assert first.finish() == 0
            run = await ended(client, session)

    assert (code, run.outcome) == (0, "completed")
    assert steady(second.screen).endswith(
        f"detached; the run continues (reattach: bridle attach {steady(session)})\n"
    )


async def test_a_run_that_was_cut_off_is_found_and_resumed(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    model = bridle.script({**WRITE}, {**DONE, "delay_ms": 300})
    with bridle.terminal("run", "--yolo", "--model", model, "write") as first:
        async with daemon.reached() as client:
            session = await begun(client)
            async for item in client.watch(session):
                if isinstance(item, Record) and isinstance(item.event, ToolStarted):
                    break
        daemon.kill()
        first.expect("error: the daemon has ended")
        first.expect(f"hint: bridle attach {session} --resume")
        assert first.finish() == 1

    await daemon.start()
    cut_off = bridle("attach", session)
    resumed = bridle("attach", session, "--resume")
    nothing = bridle("attach", session)

    assert (cut_off.code, steady(cut_off.err)) == (
        1,
        """\
error: the run of session ID was interrupted: its process ended
hint: resume it: bridle attach ID --resume
""",
    )
    assert (resumed.code, resumed.out) == (0, "All done.\n")
    assert (nothing.code, steady(nothing.err)) == (
        1,
        'error: session ID has no active run\nhint: start one: bridle run --session ID "…"\n',
    )


async def test_whoever_attaches_late_sees_the_run_so_far(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    (bridle.project / "greet.py").write_text("hi\n")
    read = {"text": "I look.", "calls": [{"name": "read_file", "args": {"path": "greet.py"}}]}
    with bridle.terminal("run", "--model", bridle.script(read, WRITE, DONE), "write") as first:
        first.expect("stop the run\n> ")
        async with daemon.reached() as client:
            session = await asked(client)
            with bridle.terminal("attach", session[:13]) as second:
                second.expect("I look.")
                second.expect("read_file greet.py")
                second.expect("I write.")
                second.expect("write_file a.txt")
                second.expect("stop the run\n> ")
                await client.submit(session, Cancel("enough"))
                code = second.finish()
        assert first.finish() == 130

    assert code == 130
    assert "cancelled" in second.screen


def test_nothing_to_attach_to(bridle: Bridle):
    assert bridle("attach", "nowhere") == Done(
        1, "", 'error: no session "nowhere"\nhint: bridle session list --all\n'
    )


async def test_whoever_cannot_be_asked_only_watches(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    with bridle.terminal("run", "--model", bridle.script(WRITE, DONE), "write") as first:
        first.expect("stop the run\n> ")
        async with daemon.reached() as client:
            session = await asked(client)
        second = bridle.start("attach", session)
        assert second.stdout is not None
        said = await asyncio.to_thread(second.stdout.readline)
        first.send("y")
        assert first.finish() == 0
        out, _ = second.communicate(timeout=PATIENCE_S)

    assert (second.returncode, (said + out).decode()) == (0, "I write.\nAll done.\n")


async def test_ctrl_c_leaves_a_run_that_was_resumed(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    with bridle.terminal("run", "--model", bridle.script(WRITE, DONE), "write") as first:
        first.expect("stop the run\n> ")
        daemon.kill()
        first.finish()
    await daemon.start()
    session = bridle.sessions()[0]["id"]
    with bridle.terminal("attach", session, "--resume") as second:
        second.expect("stop the run\n> ")
        second.interrupt()
        code = second.finish()
    async with daemon.reached() as client:
        states = [one.state for one in (await client.status()).sessions]

    assert (code, states) == (0, ["waiting"])


@pytest.mark.parametrize("with_daemon", [True, False])
async def test_a_run_without_the_daemon_cannot_be_joined(
    daemon: DaemonProcess, bridle: Bridle, *, with_daemon: bool
):
    with bridle.terminal("run", "--model", bridle.script(WRITE, DONE), "write") as first:
        first.expect("stop the run\n> ")
        if with_daemon:
            await daemon.start()
        done = bridle("attach", bridle.sessions()[0]["id"])
        first.send("y")
        assert first.finish() == 0

    assert done.code == 1
    assert steady(done.err) == (
        "error: session ID is running outside the daemon\n"
        "hint: attach needs a run in the daemon: bridle daemon start, before the run\n"
    )


async def test_a_run_is_joined_from_a_project_that_needs_an_engine_of_its_own(
    daemon: DaemonProcess, bridle: Bridle, tmp_path: Path
):
    await daemon.start()
    other = tmp_path / "other"
    (other / ".bridle").mkdir(parents=True)
    (other / ".bridle" / "config.toml").write_text("[tools]\nweb_timeout = 5\n")
    with bridle.terminal("run", "--model", bridle.script(WRITE, DONE), "write") as first:
        first.expect("stop the run\n> ")
        async with daemon.reached() as client:
            session = await asked(client)
        with bridle.terminal("attach", session, cwd=other) as second:
            second.expect("stop the run\n> ")
            second.send("y")
            assert second.finish() == 0
        assert first.finish() == 0
