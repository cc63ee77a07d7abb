"""A real daemon with a separate home, to be killed and restarted."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from bridle.core.ids import SessionId
from bridle.core.protocol import Event, Record, RunEnded
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.launcher import connect_if_running
from bridle.surfaces.remote.client import RemoteService
from tests.patience import PATIENCE_S
from tests.surfaces.warm import WarmProcess, starts_as_usual, warm

_Event = TypeVar("_Event", bound=Event)


async def seen(client: RemoteService, session: SessionId, kind: type[_Event], after: int = 0) -> _Event:
    """Wait for an event of a run, and return it; fail if the run ends without one."""
    async for item in client.watch(session, after):
        if isinstance(item, Record) and isinstance(item.event, kind):
            return item.event
        assert not (isinstance(item, Record) and isinstance(item.event, RunEnded)), item
    raise AssertionError(f"no {kind.__name__}")


class DaemonProcess:
    """Starts the daemon of a home in the foreground of a child process."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self.place = DaemonFiles(home)
        self._environ = {"LANG": "C.UTF-8", **environ, "BRIDLE_HOME": str(home)}
        self._environ.pop("PYTHONDONTWRITEBYTECODE", None)
        self._child: subprocess.Popen[bytes] | WarmProcess | None = None

    @property
    def pid(self) -> int:
        assert self._child is not None
        return self._child.pid

    @property
    def lives(self) -> bool:
        return self._child is not None and self._child.poll() is None

    async def start(self) -> None:
        """Start it and wait until it listens."""
        self.place.make_folders()
        with open(self.place.log, "ab") as log, open(os.devnull, "rb") as nothing:
            self._child = self._begin(nothing.fileno(), log.fileno())
        async with asyncio.timeout(PATIENCE_S):
            while not self.place.is_held():
                assert self._child.poll() is None, self.place.log.read_text()
                await asyncio.sleep(0.01)
        await (await self.client()).aclose()

    def _begin(self, stdin: int, log: int) -> "subprocess.Popen[bytes] | WarmProcess":
        args = ["daemon", "run"]
        if starts_as_usual(self._environ):
            return warm().begin(args, self.place.home, self._environ, (stdin, log, log))
        return subprocess.Popen(
            [sys.executable, "-m", "bridle", *args],
            stdin=stdin,
            stdout=log,
            stderr=log,
            env=self._environ,
            cwd=self.place.home,
        )

    async def client(self) -> RemoteService:
        """Connect to it."""
        daemon = await connect_if_running(self.place)
        assert daemon is not None, self.place.log.read_text()
        return daemon

    @asynccontextmanager
    async def reached(self) -> AsyncIterator[RemoteService]:
        client = await self.client()
        try:
            yield client
        finally:
            await client.aclose()

    def kill(self) -> None:
        """End it without a warning."""
        assert self._child is not None
        self._child.kill()
        self._child.wait(PATIENCE_S)

    def ask_to_end(self) -> int:
        """End it as the system would; returns its exit status."""
        self.send(signal.SIGTERM)
        return self.wait()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._child is not None
        with suppress(ProcessLookupError):
            self._child.send_signal(number)

    def wait(self) -> int:
        """Wait for its end; returns its exit status."""
        assert self._child is not None
        return self._child.wait(PATIENCE_S)

    def close(self) -> None:
        if self.lives:
            self.kill()


def descendants(pid: int) -> set[int]:
    """Return every process below one."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{one}/task"):
                children = Path(f"/proc/{one}/task/{thread}/children").read_text()
                found.extend(int(child) for child in children.split())
    return set(found) - {pid}


def processes_of(home: Path) -> set[int]:
    """Return the processes that were started with a home and live."""
    found = set()
    wanted = f"BRIDLE_HOME={home}".encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if wanted in entry.read_bytes().split(b"\0") and _lives(int(entry.parent.name)):
                found.add(int(entry.parent.name))
    return found


async def until_gone(pids: set[int]) -> None:
    """Wait until none of these processes lives; a zombie is not one."""
    async with asyncio.timeout(PATIENCE_S):
        while any(map(_lives, pids)):  # noqa: ASYNC110  another process gives no event
            await asyncio.sleep(0.02)


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something is so, in another process."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  another process gives no event
            await asyncio.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
