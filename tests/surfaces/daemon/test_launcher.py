"""Starting a daemon: normally, after a crashed one, and where it cannot start."""

import asyncio
import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from bridle.core.errors import BridleError, ConfigError, DaemonGone
from bridle.surfaces.daemon import launcher
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.listen_address import parse_listen_address
from tests.surfaces.command import PATIENCE_S, PROGRAM, Bridle, Done
from tests.surfaces.daemon.process import DaemonProcess, processes_of, until, until_gone

NEWER = """
import bridle, sys
bridle.__version__ = "9.9"
from bridle.surfaces.cli import main
sys.exit(main())
"""


@pytest.fixture
def stopping(bridle: Bridle):
    """End whatever was started in the background."""
    yield
    bridle("daemon", "stop")


def pid_of(bridle: Bridle) -> int:
    status = json.loads(bridle("daemon", "status", "--json").out)
    pid: int = status["pid"]
    return pid


@pytest.mark.usefixtures("stopping")
def test_ten_starts_at_once_give_one_daemon(bridle: Bridle):
    starts = [bridle.start("daemon", "start") for _ in range(10)]
    ended = [(*start.communicate(timeout=PATIENCE_S * 2), start.returncode) for start in starts]
    pid = pid_of(bridle)

    said = {out.decode().replace(" already", "") for out, _, _ in ended}
    assert (said, {code for _, _, code in ended}, {err for _, err, _ in ended}) == (
        {f"the daemon is running (process {pid})\n"},
        {0},
        {b""},
    )
    assert DaemonFiles(bridle.home).pid() == pid


@pytest.mark.usefixtures("stopping")
def test_a_daemon_starts_once_and_stops_once(bridle: Bridle):
    first = bridle("daemon", "start")
    again = bridle("daemon", "start")
    pid = pid_of(bridle)
    stopped = bridle("daemon", "stop")

    assert first == Done(0, f"the daemon is running (process {pid})\n", "")
    assert again == Done(0, f"the daemon is already running (process {pid})\n", "")
    assert stopped == Done(0, f"the daemon stopped (process {pid})\n", "")
    assert bridle("daemon", "stop") == Done(0, "the daemon is not running\n", "")
    assert bridle("daemon", "status") == Done(1, "the daemon is not running\n", "")
    assert sorted(path.name for path in (bridle.home / "run").iterdir()) == ["daemon.lock", "token"]


async def test_a_second_daemon_says_who_is_there(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()

    second = bridle("daemon", "run")

    assert second == Done(
        1, "", f"error: the daemon of {bridle.home} is already running (process {daemon.pid})\n"
    )
    async with daemon.reached() as client:
        assert (await client.status()).pid == daemon.pid


async def test_a_socket_and_a_lock_that_are_left_over_do_not_matter(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    daemon.kill()
    assert daemon.place.socket.is_socket()

    assert bridle("daemon", "status") == Done(1, "the daemon is not running\n", "")
    assert bridle("run", "--model", bridle.script({"text": "alone"}), "hi").out == "alone\n"
    await daemon.start()
    async with daemon.reached() as client:
        assert (await client.status()).pid == daemon.pid


async def test_a_home_may_lie_very_deep(env: dict[str, str], tmp_path: Path):
    home = tmp_path / ("d" * 100) / ("e" * 100)
    home.mkdir(parents=True)
    project = tmp_path / "project"
    project.mkdir()
    daemon = DaemonProcess(home, env)
    try:
        await daemon.start()
        bridle = Bridle(env | {"BRIDLE_HOME": str(home)}, project)
        script = tmp_path / "script.json"
        script.write_text('{"replies": [{"text": "deep"}]}')
        done = bridle("run", "--model", f"scripted/{script}", "hi")
        async with daemon.reached() as client:
            sessions = (await client.status()).sessions
        assert daemon.ask_to_end() == 0
    finally:
        daemon.close()

    assert (done.out, len(sessions)) == ("deep\n", 1)
    assert not daemon.place.socket.exists()


@pytest.mark.parametrize("key", ["serve.tcp", "http.bind"])
def test_a_port_that_is_taken_is_named(bridle: Bridle, key: str):
    section, name = key.split(".")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        (bridle.home / "config.toml").write_text(f'[{section}]\n{name} = "{address}"\n')
        run, start = bridle("daemon", "run"), bridle("daemon", "start")

    said = f'{key}: cannot listen at "{address}": Address already in use'
    assert run.code == 1
    assert f"error: {said}\nhint: bridle config set {key} 127.0.0.1:0" in run.err
    assert start == Done(
        1,
        "",
        f"error: the daemon did not start: {said}\nhint: see {bridle.home}/logs/daemon.log\n",
    )
    assert not DaemonFiles(bridle.home).is_held()
    assert not DaemonFiles(bridle.home).socket.exists()


def test_an_address_that_others_can_reach_is_refused(bridle: Bridle):
    (bridle.home / "config.toml").write_text('[serve]\ntcp = "0.0.0.0:7777"\n')

    done = bridle("daemon", "run")

    assert done.code == 1
    assert 'error: serve.tcp: "0.0.0.0:7777" can be reached from other machines, but' in done.err
    assert 'hint: use "127.0.0.1:7777", or set cert and key in [serve.tls]' in done.err


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("localhost:80", ("127.0.0.1", 80)),
        (":80", ("127.0.0.1", 80)),
        ("[::1]:80", ("::1", 80)),
        ("127.9.9.9:0", ("127.9.9.9", 0)),
    ],
)
def test_addresses_of_this_machine(address: str, place: tuple[str, int]):
    assert parse_listen_address(address, "serve.tcp") == place


@pytest.mark.parametrize("address", ["0.0.0.0:1", "[::]:1", "192.168.0.1:1", "example.org:1", "[::2]:1"])
def test_addresses_of_others(address: str):
    with pytest.raises(ConfigError, match="can be reached from other machines"):
        parse_listen_address(address, "serve.tcp")


@pytest.mark.parametrize("port", [65536, 99999])
def test_a_port_that_is_none_is_refused(port: int):
    with pytest.raises(ConfigError, match=f"{port} is not a port"):
        parse_listen_address(f"127.0.0.1:{port}", "serve.tcp")


def test_a_home_that_cannot_be_written_is_named(bridle: Bridle, tmp_path: Path):
    (tmp_path / "file").write_text("")
    home = tmp_path / "file" / "home"

    for command in ("start", "run"):
        done = bridle("daemon", command, BRIDLE_HOME=str(home))
        assert (done.code, done.out, "Traceback" in done.err) == (1, "", False)
        assert done.err.startswith(f"error: {home}")


async def test_a_client_of_another_version_goes_on_alone(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    script = bridle.script({"text": "alone"})
    done = subprocess.run(
        [PROGRAM[0], "-c", NEWER, "run", "--model", script, "hi"],
        env=bridle.env,
        cwd=bridle.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    async with daemon.reached() as client:
        status = await client.status()

    assert (done.returncode, done.stdout, status.sessions) == (0, "alone\n", ())
    assert done.stderr == (
        f"warning: the daemon refused the connection: the daemon is Bridle {status.version}, the client 9.9; "
        "continuing without it\n"
        "hint: bridle daemon restart\n"
    )


async def test_a_daemon_of_another_version_can_be_stopped(daemon: DaemonProcess, bridle: Bridle):
    await daemon.start()
    stop = subprocess.Popen(
        [PROGRAM[0], "-c", NEWER, "daemon", "stop"], env=bridle.env, stdout=subprocess.PIPE
    )
    assert daemon.wait() == 0
    out, _ = stop.communicate(timeout=PATIENCE_S)

    assert out.decode() == f"the daemon stopped (process {daemon.pid})\n"


async def test_a_daemon_that_does_not_listen_is_given_up(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(launcher, "START_S", 0.05)
    place = DaemonFiles(home)
    with place.held():
        with pytest.raises(DaemonGone, match=rf"process {os.getpid()}\) holds its lock but does not listen"):
            await launcher.connect_if_running(place)
        with socket.socket(socket.AF_UNIX) as silent, place.socket_path() as path:
            silent.bind(path)
            with pytest.raises(DaemonGone, match="does not listen"):
                await launcher.connect_if_running(place)
    assert await launcher.connect_if_running(place) is None


async def test_something_else_that_listens_is_not_taken_for_a_daemon(home: Path):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    place = DaemonFiles(home)
    with place.held():
        server = await asyncio.start_unix_server(serve, place.socket)
        with pytest.raises(DaemonGone, match="the program listening there is not Bridle's daemon"):
            await launcher.connect_if_running(place)
        server.close()


# ---------------------------------------------------------------------------- starts that fail


async def test_a_start_that_takes_too_long_is_ended(
    home: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(launcher, "START_S", 0.0)

    with pytest.raises(BridleError, match="the daemon did not start"):
        await launcher.launch_daemon(DaemonFiles(home), env)

    assert processes_of(home) == set()


async def test_a_start_that_is_cancelled_is_ended(home: Path, env: dict[str, str]):
    start = asyncio.create_task(launcher.launch_daemon(DaemonFiles(home), env))
    await until(lambda: bool(processes_of(home)))

    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start

    assert processes_of(home) == set()


FAULTS = {
    "settings that cannot be read": ("[serve", 1),
    "a key that does not exist": ("nothing = 1\n", 1),
    "a port that is taken": ('[http]\nbind = "TAKEN"\n', 1),
    "a flag that does not exist": ("", 64),
}


@pytest.mark.parametrize("command", [["daemon", "start"], ["web", "--print"], ["tui"]], ids=" ".join)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_start_that_fails_leaves_nothing_running(bridle: Bridle, fault: str, command: list[str]):
    text, code = FAULTS[fault]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        (bridle.home / "config.toml").write_text(text.replace("TAKEN", address))
        done = bridle(*command, *([] if text else ["--no-such-flag"]))

    assert (done.code, done.out) == (64 if command == ["tui"] else code, "")
    assert "Traceback" not in done.err
    await until_gone(processes_of(bridle.home))


@pytest.mark.parametrize("was_there", [False, True], ids=["started for it", "there before"])
async def test_a_daemon_that_cannot_serve_the_page_stays_only_if_it_was_there(
    bridle: Bridle, tmp_path: Path, was_there: bool
):
    broken = tmp_path / "broken" / "uvicorn"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text('raise ModuleNotFoundError("no", name="uvicorn")\n')
    path = str(broken.parent)
    if was_there:
        assert bridle("daemon", "start", PYTHONPATH=path).code == 0
    try:
        done = bridle("web", "--print", PYTHONPATH=path)

        assert (done.code != 0, done.out) == (True, "")
        if was_there:
            assert bridle("daemon", "status").code == 0
        else:
            await until_gone(processes_of(bridle.home))
    finally:
        bridle("daemon", "stop")
