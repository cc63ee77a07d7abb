"""A home whose daemon is repeatedly killed, stopped and frozen, with the programs it has started."""

import asyncio
import os
import random
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

from bridle.app import open_store
from bridle.config.settings import load_settings
from bridle.core.errors import DaemonGone, SessionError, SessionNotRunning
from bridle.core.ids import SessionId
from bridle.core.protocol import Command, Prompt, Resume
from bridle.core.queries import ListSessions, Status
from bridle.core.session_api import Receipt, SessionApi
from bridle.stores.record_lines import LineStore
from bridle.surfaces.daemon.launcher import connect_if_running
from bridle.surfaces.remote.client import RemoteService
from tests.scale.clients import Clients
from tests.surfaces.daemon.process import DaemonProcess, descendants

SETTINGS = """\
[serve]
shutdown_timeout = "1s"

[sandbox]
mode = "off"

[memory]
enabled = false

[compaction]
keep_turns = 0

[mcp.servers.time]
command = "mcp-server-time"
args = ["--local-timezone", "UTC"]
scope = "user"

[mcp.servers.git]
command = "mcp-server-git"
scope = "user"
"""
PROGRAMS = {
    "kernel": "marshal.loads(code)",
    "tool server": "mcp-server-",
    "model server": "bridle.providers.embedded",
}
"""What is killed beside the daemon, by what its command line holds."""
EXTRAS = (
    ("python", {"code": "total = 1 + 1\nprint(total)"}),
    ("python", {"code": "import os\nprint(sorted(os.listdir('.'))[:3])"}),
    ("mcp__time__get_current_time", {"timezone": "UTC"}),
    ("mcp__git__git_status", {"repo_path": "."}),
    ("glob", {"pattern": "*.sh"}),
)
LOOK_S = 0.3
END_S = 60.0


class House:
    """One home, its daemon, and a folder for the projects of its sessions."""

    name = "daemon"

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root = root
        self.home = root / "home"
        self.projects = root / "projects"
        self.home.mkdir(parents=True)
        self.projects.mkdir()
        (self.home / "config.toml").write_text(SETTINGS)
        subprocess.run(["git", "init", "-q", str(self.projects)], check=True)
        self._environ = {**environ, "BRIDLE_HOME": str(self.home), "HOME": str(root)}
        self.daemon = DaemonProcess(self.home, self._environ)

    async def api(self) -> RemoteService:
        """Connect to the daemon; raises DaemonGone while there is none."""
        found = await connect_if_running(self.daemon.place)
        if found is None:
            raise DaemonGone("there is no daemon")
        return found

    async def start(self) -> None:
        """Start the daemon, and wait until it listens."""
        try:
            await self.daemon.start()
        except TimeoutError:  # the machine is busy with what else is tried
            async with asyncio.timeout(END_S):
                while (client := await connect_if_running(self.daemon.place)) is None:  # noqa: ASYNC110  another process
                    await asyncio.sleep(LOOK_S)
                await client.aclose()

    async def end(self) -> None:
        """Stop the daemon as the system would; on a busy machine its programs take a while to end."""
        self.daemon.send(signal.SIGTERM)
        async with asyncio.timeout(END_S):
            while self.daemon.lives:  # noqa: ASYNC110  another process gives no event
                await asyncio.sleep(0.05)

    def open_store(self) -> LineStore:
        """Open what the daemon keeps, once it is gone."""
        return open_store(load_settings(self._environ, self.home))

    def programs(self, words: str) -> list[int]:
        """Return the programs below the daemon whose command lines hold these words."""
        found = []
        for pid in descendants(self.daemon.pid):
            with suppress(OSError):
                if words.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found


class Weather:
    """Does one harm after the other to a house, and mends it."""

    def __init__(self, house: House, chance: random.Random) -> None:
        self.done: Counter[str] = Counter()
        self._house = house
        self._chance = chance

    async def rage(self, seconds: float, pause_s: float) -> None:
        """Do harm for some time; the daemon lives afterwards."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(self._chance.uniform(0.3, 2 * pause_s))
            await self._harm()

    async def _harm(self) -> None:
        daemon = self._house.daemon
        harms = ("kill daemon", "kill daemon", "end daemon", "freeze daemon", *PROGRAMS, *PROGRAMS)
        match self._chance.choice(harms):
            case "kill daemon":
                daemon.kill()
                self.done["kill daemon"] += 1
                await self._again()
            case "end daemon":
                await self._house.end()
                self.done["end daemon"] += 1
                await self._again()
            case "freeze daemon":
                daemon.send(signal.SIGSTOP)
                self.done["freeze daemon"] += 1
                await asyncio.sleep(self._chance.uniform(0.1, 1.0))
                daemon.send(signal.SIGCONT)
            case program:
                for pid in self._house.programs(PROGRAMS[program])[:1]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        self.done[f"kill {program}"] += 1

    async def _again(self) -> None:
        await asyncio.sleep(self._chance.uniform(0.0, 0.5))
        await self._house.start()


class Callers(Clients):
    """Clients of one daemon: it refuses prompts while it ends, and they come again."""

    def __init__(self, house: House, chance: random.Random) -> None:
        super().__init__([house], chance)  # type: ignore[list-item]  all that they need of a node

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Have a command taken; raises SessionError where there is nothing to cancel, steer or answer."""
        while True:
            try:
                return await super().submit(session, command)
            except SessionNotRunning:
                if not isinstance(command, Prompt):
                    raise
                self.retries += 1
                await asyncio.sleep(LOOK_S)


class Tender:
    """Resumes what was cut off, as the user would who finds it in the list."""

    def __init__(self, clients: Clients) -> None:
        self.resumed = 0
        self._clients = clients

    async def tend(self) -> None:
        """Look for abandoned runs until told to stop."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Resume each run that was cut off, and what waits behind it."""
        for summary in await self._clients.asked(lambda api: api.ask(ListSessions(archived=True))):
            if not summary.sub_agent:
                await self._clients.asked(lambda api, one=summary: self._resume(api, one.id))

    async def _resume(self, api: SessionApi, session: SessionId) -> None:
        glance = await api.ask(Status(session))
        if glance.is_running or (glance.run is None and not glance.facts.queue):
            return
        with suppress(SessionError):  # someone else was quicker, or its queue was stopped by its user
            await api.submit(session, Resume())
            self.resumed += 1
