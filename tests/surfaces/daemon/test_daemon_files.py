"""The files of a daemon: a lock that shows it is alive, a socket, a token."""

import fcntl
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bridle.surfaces.daemon.daemon_files import DaemonAlreadyRuns, DaemonFiles


def test_one_at_a_time_is_the_daemon(home: Path):
    place, other = DaemonFiles(home), DaemonFiles(home)

    assert (place.is_held(), place.pid()) == (False, 0)
    with place.held():
        assert (other.is_held(), other.pid()) == (True, os.getpid())
        with (
            pytest.raises(DaemonAlreadyRuns, match=rf"is already running \(process {os.getpid()}\)"),
            other.held(),
        ):
            pass
        assert other.is_held()
    assert not other.is_held()
    with other.held():
        assert place.is_held()


def test_the_lock_of_a_process_that_was_killed_is_free(home: Path):
    holder = "import sys, pathlib; from bridle.surfaces.daemon.daemon_files import DaemonFiles\n"
    holder += (
        "with DaemonFiles(pathlib.Path(sys.argv[1])).held(): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert DaemonFiles(home).is_held()
        child.kill()

    assert (DaemonFiles(home).is_held(), DaemonFiles(home).pid()) == (False, child.pid)
    with DaemonFiles(home).held():
        assert DaemonFiles(home).pid() == os.getpid()


@pytest.mark.parametrize("text", ["", "garbage", "99999999999", "-1"])
def test_what_an_old_lock_says_does_not_matter(home: Path, text: str):
    place = DaemonFiles(home)
    place.make_folders()
    place.lock.write_text(text)

    assert not place.is_held()
    with place.held():
        assert place.pid() == os.getpid()


def test_who_only_looks_is_not_taken_for_a_daemon(home: Path):
    place = DaemonFiles(home)
    place.make_folders()
    looking = os.open(place.lock, os.O_RDONLY | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.05, os.close, [looking]).start()

    with place.held():
        assert place.pid() == os.getpid()


def test_who_looks_forever_does_not_hold_up_the_start_forever(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bridle.surfaces.daemon.daemon_files._MAX_LOOKS", 3)
    place = DaemonFiles(home)
    place.make_folders()
    looking = os.open(place.lock, os.O_RDONLY | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)

    with pytest.raises(DaemonAlreadyRuns), place.held():
        pass
    os.close(looking)


def test_everything_is_for_the_user_alone(home: Path):
    place = DaemonFiles(home)
    token = place.load_token()
    with place.held():
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (home / "run").iterdir()}

    assert modes == {"daemon.lock": 0o600, "token": 0o600}
    assert stat.S_IMODE((home / "run").stat().st_mode) == 0o700
    assert len(token) == 64
    assert DaemonFiles(home).load_token() == token


def test_an_empty_token_is_no_token(home: Path):
    place = DaemonFiles(home)
    place.make_folders()
    place.token.write_text(" \n")

    assert len(place.load_token()) == 64


@pytest.mark.parametrize("length", [10, 93, 94, 95, 180])
def test_a_socket_can_lie_deeper_than_the_kernel_likes(tmp_path: Path, length: int):
    place = DaemonFiles(tmp_path / ("h" * length))
    place.make_folders()
    with socket.socket(socket.AF_UNIX) as server, place.socket_path() as path:
        server.bind(path)
        server.listen()
        with socket.socket(socket.AF_UNIX) as client, place.socket_path() as again:
            client.connect(again)

    assert place.socket.is_socket()
    assert len(os.listdir("/proc/self/fd")) < 200


def test_where_the_page_is_can_be_kept_and_forgotten(tmp_path: Path):
    place = DaemonFiles(tmp_path / "home")
    place.make_folders()
    assert place.kept_web() == ""

    place.keep_web("127.0.0.1:7417")
    assert (place.kept_web(), place.web.stat().st_mode & 0o777) == ("127.0.0.1:7417", 0o600)
    place.web.write_bytes(b"\xff" * 1000)
    assert place.kept_web() == ""
    place.web.write_text("x" * 1000)
    assert place.kept_web() == "x" * 100
    place.forget_web()
    place.forget_web()
    assert not place.web.exists()
