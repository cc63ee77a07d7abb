"""Where sessions run: in the daemon, or in this process if that is impossible."""

import os
from pathlib import Path

import pytest

from bridle.core.errors import DaemonGone
from bridle.surfaces.daemon.launcher import end_daemon
from bridle.surfaces.tui.session_connector import SessionConnector, open_sessions
from tests.surfaces.daemon.process import DaemonProcess, descendants, until_gone
from tests.surfaces.tui.stage import tui


async def test_without_a_daemon_what_is_typed_for_the_shell_runs_here_unless_it_is_denied(
    tmp_path: Path, env: dict[str, str]
):
    home, cwd = tmp_path / "home", tmp_path / "project"
    cwd.mkdir()
    config = 'daemon = "never"\nmodel = "scripted/demo"\n[rules]\ndeny = ["bash(rm:*)"]\n'
    environ = env | {"BRIDLE_HOME": str(home)}
    told: list[str] = []
    others = descendants(os.getpid())
    async with tui(lambda: open_sessions(environ, str(cwd), told.append), home, cwd, config=config) as shown:
        await shown.sees("no daemon")
        await shown.send("!echo made > made.txt")
        await shown.sees("✓ bash echo made > made.txt")
        await shown.send("!rm made.txt")
        await shown.sees("✗ bash rm made.txt")
        assert (cwd / "made.txt").exists()
        await shown.send("and now")
        await shown.sees("I am a scripted model", "· scripted/demo ·")

    assert told == []
    await until_gone(descendants(os.getpid()) - others)  # what held the commands has ended too


async def test_a_daemon_that_does_not_start_is_done_without(tmp_path: Path, env: dict[str, str]):
    home = tmp_path / "home"
    (home / "run").mkdir(parents=True)
    (home / "run" / "daemon.lock").mkdir()  # no daemon can have it
    told: list[str] = []
    api = await open_sessions(env | {"BRIDLE_HOME": str(home)}, str(tmp_path), told.append)
    await api.aclose()

    assert not api.is_remote
    assert told[0].endswith("; continuing without it")


async def test_a_daemon_that_was_stopped_is_waited_for(tmp_path: Path, env: dict[str, str]):
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    daemon = DaemonProcess(home, env)
    reaching = SessionConnector(env | {"BRIDLE_HOME": str(home)}, str(tmp_path))
    try:
        await daemon.start()
        await (await reaching(print)).aclose()
        await end_daemon(daemon.place, 0)
        with pytest.raises(DaemonGone, match="stopped"):
            await reaching(print)
    finally:
        daemon.close()

    assert not daemon.place.is_held()
