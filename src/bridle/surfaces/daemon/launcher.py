"""Connects to the daemon from another process, and starts one if there is none."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping

import bridle
from bridle.core.errors import BridleError, DaemonGone
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.remote.client import RemoteService, connect
from bridle.system.programs import unsandboxed_environment, working_folders

START_S = 20.0
GIVE_UP_S = 5.0  # for a daemon that failed to start, before it is killed
STOP_S = 60.0  # in addition to the time for its runs
_LOOK_S = 0.02

_LEFT_OUT = ("PYTHONDONTWRITEBYTECODE",)  # without compiled files every start takes many times as long


async def connect_if_running(place: DaemonFiles) -> RemoteService | None:
    """Connect to the daemon; None if there is none. Raises DaemonGone if it refuses us or does not listen."""
    if not place.is_held():
        return None
    deadline = asyncio.get_running_loop().time() + START_S
    while True:
        try:
            with place.socket_path() as path:
                return await connect(path, bridle.__version__)
        except (FileNotFoundError, ConnectionRefusedError):  # it is just starting, or about to end
            if not place.is_held():
                return None
            if asyncio.get_running_loop().time() > deadline:
                raise DaemonGone(
                    f"the daemon (process {place.pid()}) holds its lock but does not listen",
                    hint=f"see {place.log}",
                ) from None
            await asyncio.sleep(_LOOK_S)


async def launch_daemon(place: DaemonFiles, environ: Mapping[str, str]) -> RemoteService:
    """Start a daemon in the background and connect to it; raises BridleError with its last log line.

    If it cannot be reached, or the caller is cancelled, the daemon is ended.
    """
    place.make_folders()
    size = place.log.stat().st_size if place.log.exists() else 0
    child = _spawn(place, environ)
    try:
        daemon = await _reach_child(place, child)
        if daemon is None:
            said = _last_words(place, size)
            raise BridleError(f"the daemon did not start: {said}", hint=f"see {place.log}")
    except BaseException:
        await asyncio.to_thread(_end, child)
        raise
    return daemon


async def _reach_child(place: DaemonFiles, child: subprocess.Popen[bytes]) -> RemoteService | None:
    """Connect to a starting daemon; None if it has exited or took too long."""
    deadline = asyncio.get_running_loop().time() + START_S
    while asyncio.get_running_loop().time() < deadline:
        has_ended = child.poll() is not None  # another daemon may have been faster: then we connect to it
        if (daemon := await connect_if_running(place)) is not None:
            return daemon
        if has_ended:
            break
        await asyncio.sleep(_LOOK_S)
    return None


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a daemon that has just started; blocks."""
    child.terminate()
    try:
        child.wait(GIVE_UP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _spawn(place: DaemonFiles, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    here = unsandboxed_environment(environ, working_folders())  # it serves other folders as well
    env = {name: value for name, value in here.items() if name not in _LEFT_OUT}
    with open(place.log, "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "bridle", "daemon", "run", "--background"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=env,
            start_new_session=True,
        )


def _last_words(place: DaemonFiles, after: int) -> str:
    with open(place.log, "rb") as log:
        log.seek(after)
        lines = log.read(64 * 1024).decode(errors="replace").strip().splitlines()
    said = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")] or lines
    return said[-1] if said else "it said nothing"


async def end_daemon(place: DaemonFiles, runs_s: float) -> int:
    """Stop the daemon and wait for its end, of which its runs may take `runs_s`.

    Returns its pid, 0 if there was none. Raises DaemonGone.
    """
    pid = place.pid()
    try:
        daemon = await connect_if_running(place)
        if daemon is None:
            return 0
        pid = daemon.daemon.pid
        try:
            await daemon.shutdown()
        finally:
            await daemon.aclose()
    except DaemonGone:  # another version, or no answer: send a signal instead
        if not place.is_held() or not pid:
            return 0
        os.kill(pid, 15)
    patience_s = runs_s + STOP_S
    deadline = asyncio.get_running_loop().time() + patience_s
    while place.is_held():
        if asyncio.get_running_loop().time() > deadline:
            raise DaemonGone(f"the daemon (process {pid}) has not ended within {patience_s:.0f} s")
        await asyncio.sleep(_LOOK_S)
    return pid
