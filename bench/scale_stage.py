"""A cluster for the scale benches: PostgreSQL, workers and gateways as separate processes.

Everything runs on this one machine. PostgreSQL waits for the disk at each commit, like a real one, and is
reached over TCP; gateways are reached through their sockets, like from the command line.
"""

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from children import child_env
from measure import PYTHON

from bridle.surfaces.shared.session_calls import wait_for_run

if TYPE_CHECKING:
    from bridle.core.ids import SessionId
    from bridle.core.protocol import RunEnded
    from bridle.surfaces.remote.client import RemoteService
    from tests.postgres import Server

PATIENCE_S = 60.0
FILES = 50
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
CONFIG = """\
{model}
[store]
backend = "postgres"
{store}
[http]
bind = "127.0.0.1:0"
[memory]
enabled = false
{more}
[scale]
node = "{node}"
{scale}
"""


class Process:
    """A worker or a gateway."""

    def __init__(self, role: str, home: Path, child: "subprocess.Popen[bytes]") -> None:
        self.role = role
        self.home = home
        self._child = child

    @property
    def pid(self) -> int:
        """Return its number."""
        return self._child.pid

    def check(self) -> None:
        """Raise an error if the process has ended."""
        assert self._child.poll() is None, (self.home / "log").read_text()[-4000:]

    async def stop(self) -> None:
        """Stop the process, and wait for its end."""
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(self._child.wait, 20)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class Cluster:
    """All processes of a bench; made by `cluster`."""

    def __init__(self, folder: Path, server: "Server") -> None:
        self.folder = folder
        self.server = server
        self.work = folder / "work"
        self.work.mkdir()
        for number in range(FILES):
            (self.work / f"file{number}.txt").write_text(f"text number {number}\n" * 10)
        self.processes: list[Process] = []
        self._numbers = {"worker": 0, "gateway": 0}

    @property
    def url(self) -> str:
        """Return the address of the database."""
        return self.server.url("bridle")

    def script(self, script: dict[str, Any], name: str = "script") -> str:
        """Save a script; return the name of a model that replays it."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(script))
        return f"scripted/{path}"

    def home(self, name: str, *, scale: str = "", more: str = "", model: str = "", store: str = "") -> Path:
        """Make a home with settings."""
        home = self.folder / name
        home.mkdir()
        config = CONFIG.format(node=name, scale=scale, more=more, model=model, store=store)
        (home / "config.toml").write_text(config)
        return home

    async def start(self, role: str, **settings: str) -> Process:
        """Start a worker or a gateway, and wait until the others know it."""
        self._numbers[role] += 1
        name = f"{role[0]}{self._numbers[role]}"
        home = self.home(name, **settings)
        argv = [PYTHON, "-m", "bridle", role]
        with (home / "log").open("ab") as log:
            env = child_env(BRIDLE_HOME=str(home), BRIDLE_DATABASE_URL=self.url)
            child = subprocess.Popen(  # noqa: ASYNC220  nothing else runs meanwhile
                argv, env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        process = Process(role, home, child)
        self.processes.append(process)
        async with asyncio.timeout(PATIENCE_S):
            while not self._is_known(name, process):
                process.check()
                await asyncio.sleep(0.05)
        return process

    def _is_known(self, name: str, process: Process) -> bool:
        if process.role == "gateway" and not (process.home / "run/daemon.sock").exists():
            return False
        with suppress(Exception):  # the tables may not exist yet
            asked = f"SELECT 1 FROM bridle.workers WHERE node = '{name}' AND NOT gone"
            return bool(self.server.run(asked, database="bridle"))
        return False

    async def stop(self, process: Process) -> None:
        """End a process."""
        self.processes.remove(process)
        await process.stop()

    @asynccontextmanager
    async def client(self, gateway: Process) -> AsyncIterator["RemoteService"]:
        """Connect to a gateway."""
        from bridle.surfaces.daemon.daemon_files import DaemonFiles
        from bridle.surfaces.daemon.launcher import connect_if_running

        gateway.check()
        client = await connect_if_running(DaemonFiles(gateway.home))
        assert client is not None, (gateway.home / "log").read_text()[-4000:]
        try:
            yield client
        finally:
            await client.aclose()

    def cpu(self) -> dict[str, float]:
        """Return the CPU seconds so far, by role; for PostgreSQL, of all its processes."""
        used = {"worker": 0.0, "gateway": 0.0, "postgres": tree_cpu_s(self.server.pid)}
        for process in self.processes:
            used[process.role] += tree_cpu_s(process.pid)
        return used

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement."""
        return self.server.run(statement, database="bridle")


@asynccontextmanager
async def cluster(folder: str | Path) -> AsyncIterator[Cluster]:
    """Start a PostgreSQL with an empty database; at the end, stop the nodes first."""
    server = start_postgres()
    built = Cluster(Path(folder), server)
    try:
        yield built
    finally:
        await asyncio.gather(*(process.stop() for process in reversed(built.processes)))
        server.stop()


def start_postgres() -> "Server":
    """Start a PostgreSQL that waits for the disk, with an empty database `bridle`."""
    repo = str(Path(__file__).parent.parent)
    if repo not in sys.path:
        sys.path.insert(0, repo)
    from tests.postgres import Server

    server = Server(listen="127.0.0.1", durable=True)
    server.start()
    server.run("CREATE DATABASE bridle")
    return server


# ---------------------------------------------------------------------------- figures


def tree_cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and of its children, including ended ones."""
    total = 0.0
    with suppress(FileNotFoundError, ProcessLookupError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, fields[11:15])) * TICK_S
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        total += sum(tree_cpu_s(int(child)) for child in children)
    return total


def resident_mb(pid: int) -> float:
    """Return the memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


def threads(pid: int) -> int:
    """Return the number of threads of a process."""
    return len(os.listdir(f"/proc/{pid}/task"))


def used(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Return the difference between two measurements."""
    return {role: after[role] - before[role] for role in after}


def percentile(found: Sequence[float], share: float) -> float:
    """Return the value below which this share of all values lies."""
    ordered = sorted(found)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def spread(found: Sequence[float]) -> str:
    """Describe the spread of values in seconds, in milliseconds."""
    p50, p99 = statistics.median(found) * 1000, percentile(found, 0.99) * 1000
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, most {max(found) * 1000:.0f} ms of {len(found)}"


def load() -> str:
    """Describe the load of this machine, which other work may share."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


# ---------------------------------------------------------------------------- runs


def looking(turns: int, **more: Any) -> dict[str, Any]:
    """Return the script of a run that reads a file in every turn but the last; every reply has `more`."""
    looks = [
        {
            "text": f"I will look at file number {number} now and tell you what is in it.",
            "calls": [{"name": "read_file", "args": {"path": f"file{number % FILES}.txt"}}],
        }
        for number in range(turns - 1)
    ]
    return {"replies": [reply | more for reply in (*looks, {"text": "All files have been looked at."})]}


async def begin(api: Any, work: Path, model: str, **options: Any) -> tuple["SessionId", Any]:
    """Create a session and submit a prompt; return the session and the receipt."""
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt, RunOptions

    session = await api.create(cwd=str(work))
    prompt = Prompt(user_message("Look at all files."), RunOptions(model=model, **options))
    return session, await api.submit(session, prompt)


async def run_once(api: Any, work: Path, model: str, **options: Any) -> "RunEnded":
    """Create a session and follow its run to the end."""
    session, receipt = await begin(api, work, model, **options)
    ended: RunEnded = await wait_for_run(api, session, receipt.run_id)
    assert ended.outcome == "completed", ended
    return ended


async def until_quiet(cluster: Cluster) -> None:
    """Wait until no assignment waits or runs."""
    deadline = time.monotonic() + PATIENCE_S
    asked = "SELECT count(*) FROM dbos.workflow_status WHERE status IN ('PENDING', 'ENQUEUED')"
    while cluster.run(asked)[0][0]:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)
