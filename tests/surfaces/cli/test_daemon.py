"""`bridle daemon` and `bridle ps`: the daemon's status, its log, and its automatic start."""

import configparser
import json
import logging
import os
import plistlib
import re
import shlex
import sys
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

import bridle as package
from bridle.surfaces.cli.daemon import LOG_BYTES, LOG_FILES, _log_to, _quoted
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from tests.mcp.players import CAST
from tests.surfaces.command import PATIENCE_S, Bridle, Done, interrupt, steady
from tests.surfaces.daemon.process import DaemonProcess

WRITE = {"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]}


@pytest.fixture
def daemon(bridle: Bridle) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(bridle.home, bridle.env)
    yield daemon
    daemon.close()


async def test_status_says_how_it_is(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    bridle("run", "--model", bridle.script({"text": "hello"}), "hi")
    shown, printed = bridle("daemon", "status"), bridle("daemon", "status", "--json")

    assert (
        re.sub(r"\d+ (MB|s)\n", r"N \1\n", shown.out)
        == f"""\
the daemon is running
  version   {package.__version__}
  process   {daemon.pid}, N MB
  up        N s
  home      {bridle.home}
  socket    {bridle.home}/run/daemon.sock
  sessions  0 running, 0 waiting, 1 idle
  clients   1
"""
    )
    status = json.loads(printed.out)
    assert (shown.code, printed.code, status["pid"], len(status["sessions"])) == (0, 0, daemon.pid, 1)


async def test_status_names_the_servers_of_this_directory(daemon: DaemonProcess, bridle: Bridle):
    bridle("mcp", "add", "plain", "--", sys.executable, str(CAST / "plain.py"), "plain")
    await daemon.start()
    before = bridle("daemon", "status").out
    bridle("run", "--model", bridle.script({"text": "hello"}), "hi")

    assert "plain" not in before
    while "plain is starting" in (shown := bridle("daemon", "status").out):
        pass
    assert re.search(r"\n  mcp       plain is ready, process \d+\n\Z", shown)
    assert "plain" not in bridle("daemon", "status", cwd=bridle.home).out


def test_without_a_daemon_there_is_nothing_to_see(bridle: Bridle):
    assert bridle("daemon", "status", "--json") == Done(1, "null\n", "")
    assert bridle("ps") == Done(0, "", "the daemon is not running\nhint: bridle daemon start\n")
    assert bridle("ps", "--json") == Done(0, "[]\n", "")
    assert bridle("daemon", "logs") == Done(
        1, "", f"error: no log yet: {bridle.home}/logs/daemon.log\nhint: bridle daemon start\n"
    )


async def test_ps_lists_what_runs_and_what_waits(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    assert bridle("ps") == Done(0, "", "the daemon has no open sessions\n")
    bridle("run", "--model", bridle.script({"text": "hello"}), "greet me")
    with bridle.terminal(
        "run", "--model", bridle.script(WRITE, {"text": "done"}), "write\x1b[31m it"
    ) as terminal:
        terminal.expect("stop the run\n> ")
        done, listed = bridle("ps"), json.loads(bridle("ps", "--json").out)
        terminal.send("n")

    words = [line.split() for line in steady(done.out).splitlines()]
    assert [(line[0], line[1]) for line in words] == [("ID", "waiting"), ("ID", "idle")]
    assert "1 watcher " in done.out
    assert "\x1b" not in done.out
    assert [(one["state"], one.get("watchers", 0)) for one in listed] == [("waiting", 1), ("idle", 0)]
    assert listed[1]["title"] == "greet me"


async def test_restart_is_a_new_daemon(bridle: Bridle):
    bridle("daemon", "start")
    try:
        before = DaemonFiles(bridle.home).pid()
        done = bridle("daemon", "restart")
        after = DaemonFiles(bridle.home).pid()
    finally:
        bridle("daemon", "stop")

    assert done == Done(
        0, f"the daemon stopped (process {before})\nthe daemon is running (process {after})\n", ""
    )
    log = (bridle.home / "logs" / "daemon.log").read_text()
    assert [line.split(": ")[1] for line in log.splitlines() if "ended" in line] == ["ended", "ended"]
    assert bridle("daemon", "logs", "-n", "1").out.endswith(" bridle.daemon: ended\n")


# ---------------------------------------------------------------------------- the log


def write_log(bridle: Bridle, *lines: str, mode: str = "w") -> Path:
    log = DaemonFiles(bridle.home).log
    log.parent.mkdir(exist_ok=True)
    with open(log, mode) as file:
        file.write("".join(f"{line}\n" for line in lines))
    return log


@pytest.mark.parametrize(("lines", "shown"), [("2", "c\nd\n"), ("9", "a\nb\nc\nd\n"), ("0", ""), ("-3", "")])
def test_the_end_of_the_log_is_shown(bridle: Bridle, lines: str, shown: str):
    write_log(bridle, "a", "b", "c", "d")

    assert bridle("daemon", "logs", f"--lines={lines}") == Done(0, shown, "")


def test_the_log_is_followed_over_its_rotation(bridle: Bridle):
    log = write_log(bridle, "a", "b")
    following = bridle.start("daemon", "logs", "-n", "1", "-f")
    assert following.stdout is not None
    assert following.stdout.readline() == b"b\n"
    write_log(bridle, "c", mode="a")
    assert following.stdout.readline() == b"c\n"
    write_log(bridle, "last", mode="a")
    log.rename(log.with_suffix(".1"))
    write_log(bridle, "new", "er")
    assert [following.stdout.readline() for _ in range(3)] == [b"last\n", b"new\n", b"er\n"]
    interrupt(following)

    assert following.wait(PATIENCE_S) == 130
    assert following.communicate() == (b"", b"")


def test_the_log_of_the_background_is_rotated(home: Path):
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    root.handlers.clear()
    try:
        _log_to(DaemonFiles(home), background=True)
        [handler] = root.handlers
    finally:
        root.handlers[:] = before
        root.setLevel(level)

    assert isinstance(handler, RotatingFileHandler)
    assert (handler.maxBytes, handler.backupCount) == (LOG_BYTES, LOG_FILES)
    handler.maxBytes = 1000
    for number in range(200):
        handler.handle(logging.LogRecord("bridle.daemon", logging.INFO, "", 1, "line %d", (number,), None))
    handler.close()
    sizes = {path.name: path.stat().st_size for path in (home / "logs").iterdir()}
    assert set(sizes) == {"daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"}
    assert max(sizes.values()) <= 1000


# ---------------------------------------------------------------------------- what starts it


def test_the_unit_of_systemd_starts_this_program_with_this_home(bridle: Bridle):
    done = bridle("daemon", "install", "systemd")
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(done.out)

    assert (done.code, done.err) == (0, "")
    assert shlex.split(unit["Service"]["ExecStart"]) == [
        sys.executable,
        "-P",
        "-m",
        "bridle",
        "daemon",
        "run",
    ]
    assert shlex.split(unit["Service"]["Environment"]) == [f"BRIDLE_HOME={bridle.home}"]
    assert (unit["Service"]["Restart"], unit["Install"]["WantedBy"]) == ("on-failure", "default.target")


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("/usr/bin/python", "/usr/bin/python"),
        ("/a folder/python", '"/a folder/python"'),
        ('100% "mine"\\', '"100%% \\"mine\\"\\\\"'),
    ],
)
def test_words_of_a_unit_are_quoted(word: str, quoted: str):
    assert _quoted(word) == quoted


def test_the_file_of_launchd_starts_this_program_with_this_home(bridle: Bridle):
    done = bridle("daemon", "install", "launchd")

    assert plistlib.loads(done.out.encode()) == {
        "Label": "bridle",
        "ProgramArguments": [sys.executable, "-P", "-m", "bridle", "daemon", "run"],
        "EnvironmentVariables": {"BRIDLE_HOME": str(bridle.home)},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
    }


def test_on_a_terminal_install_says_where_to_put_it(bridle: Bridle):
    with bridle.terminal("daemon", "install", "systemd", width=200) as terminal:
        assert terminal.finish() == 0

    assert "hint: save this as ~/.config/systemd/user/bridle.service" in terminal.screen
    assert os.path.basename(sys.executable) in terminal.screen
