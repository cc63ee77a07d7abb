"""One process of a cluster: the real `bridle worker`, `bridle gateway` or `bridle daemon run`.

It is forked by a process that has loaded the modules already, and begins with the first line of the program:
its connections, threads and event loop are its own. Whatever becomes of the tests, it ends with them.
"""

import asyncio
import atexit
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import bridle
from bridle.core.errors import BridleError
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.remote.client import RemoteService, connect
from tests.patience import PATIENCE_S
from tests.scale.node_process import NETWORK
from tests.surfaces.warm import USUAL, Warm, WarmProcess

PROCESS = Path(__file__).with_name("node_process.py")
_STARTED = {"worker": " works, process ", "gateway": " serves ", "daemon": " serves "}
LOG_CHARS = 8_000


class WarmNodes(Warm):
    """The process that forks nodes."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen([sys.executable, "-P", PROCESS], stdin=theirs, env=USUAL)


@cache
def warm_nodes() -> WarmNodes:
    """Return the process that forks, started when it is first needed."""
    process = WarmNodes()
    atexit.register(process.close)
    return process


class Node:
    """A process with a separate home, to be killed, frozen, drained and started again."""

    def __init__(
        self,
        name: str,
        words: Sequence[str],
        home: Path,
        env: dict[str, str],
        settings: str,
        network: str = "",
    ) -> None:
        """`words` are what `bridle` is called with."""
        self.settings = settings
        self.name = name
        self.words = tuple(words)
        self.place = DaemonFiles(home)
        self.network = network
        self.log = home / "log"
        self.is_frozen = False
        self.env = env | {"BRIDLE_HOME": str(home)} | ({NETWORK: network} if network else {})
        self._process: WarmProcess | None = None
        self._begins_at = 0
        (home / "config.toml").write_text(settings)

    # ------------------------------------------------------------------ its life

    def spawn(self) -> None:
        """Start the node; its output goes to its log."""
        assert not self.lives, f"{self.name} lives"
        self.is_frozen = False
        self._begins_at = self.log.stat().st_size if self.log.exists() else 0
        null = os.open(os.devnull, os.O_RDONLY)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = warm_nodes().begin(self.words, self.place.home, self.env, (null, log, log))
        finally:
            os.close(null)
            os.close(log)

    async def start(self) -> None:
        """Start the node, and wait until it is part of the cluster."""
        self.spawn()
        await self.until_ready()

    async def until_ready(self) -> None:
        """Wait until it is part of the cluster; a gateway can be reached then."""
        async with asyncio.timeout(PATIENCE_S):
            while _STARTED[self.words[0]] not in self.said():
                assert self.lives, f"{self.name} ended with {self.process.poll()}:\n{self.said()}"
                await asyncio.sleep(0.01)

    @property
    def process(self) -> WarmProcess:
        assert self._process is not None, f"{self.name} was never started"
        return self._process

    @property
    def lives(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def said(self) -> str:
        """Return its output since its last start."""
        with open(self.log, "rb") as log:
            log.seek(self._begins_at)
            return log.read().decode(errors="replace")

    def kill(self) -> None:
        """End it without a warning."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self.is_frozen = False

    def freeze(self) -> None:
        """Stop it where it is."""
        self._signal(signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self) -> None:
        """Let it continue."""
        self.is_frozen = False
        self._signal(signal.SIGCONT)

    def drain(self) -> None:
        """Ask it to stop, like the system would."""
        self._signal(signal.SIGTERM)

    async def ended(self) -> int:
        """Wait for its end; returns the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self.lives:
            if time.monotonic() > deadline:
                self._signal(signal.SIGUSR2)  # it says what it is at
                await asyncio.sleep(1)
                raise AssertionError(f"{self.name} does not end:\n{self.said()}")
            await asyncio.sleep(0.01)
        return self.process.wait(0)

    def close(self) -> None:
        if self.lives:
            self.kill()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    # ------------------------------------------------------------------ for clients

    async def api(self) -> RemoteService:
        """Connect to a gateway by its socket; raises BridleError, OSError when it is not there."""
        with self.place.socket_path() as path:
            async with asyncio.timeout(PATIENCE_S):
                return await connect(path, bridle.__version__)

    @property
    def token(self) -> str:
        """What REST and JSON-RPC ask for."""
        return self.place.token.read_text().strip()

    def last_words(self) -> str:
        """Return the end of its log, to find the reason for a failure."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return f"---- {self.name}: {' '.join(self.words)}\n{text[-LOG_CHARS:]}"


async def reached(node: Node) -> RemoteService:
    """Connect to a gateway that is about to be there."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await node.api()
            except (BridleError, OSError):
                await asyncio.sleep(0.02)
