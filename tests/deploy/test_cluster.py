"""The cluster of compose.yaml without containers: it serves, survives a lost worker, and stops."""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bridle.core.protocol import RunEnded, ToolStarted
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.launcher import connect_if_running
from bridle.surfaces.remote.client import RemoteService
from tests.deploy.playing import bash, prompted, results, until
from tests.scale.verdict import processes_of

ROOT = Path(__file__).parents[2]
PATIENCE_S = 90.0
SERVICES = {
    "certificates": "done",
    "gateway-1": "healthy",
    "gateway-2": "healthy",
    "load-balancer": "running",
    "postgres": "healthy",
    "tables": "done",
    "worker-1": "healthy",
    "worker-2": "healthy",
    "worker-3": "healthy",
}

pytestmark = pytest.mark.slow


class Cluster:
    """The script, with a separate folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.program, *words], cwd=ROOT, env=self.env, capture_output=True, text=True, check=False
        )

    @property
    def program(self) -> list[str]:
        return [sys.executable, "-m", "scripts.cluster", "--folder", str(self.folder)]

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_COLOR": "1"}

    @property
    def services(self) -> dict[str, Any]:
        done = self("status", "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)["services"]
        return found

    async def api(self, gateway: str) -> RemoteService:
        api = await connect_if_running(
            DaemonFiles(Path(self.services[gateway]["environment"]["BRIDLE_HOME"]))
        )
        assert api is not None
        return api

    async def until(self, **conditions: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                services = await asyncio.to_thread(lambda: self.services)
                if all(services[name]["condition"] == wanted for name, wanted in conditions.items()):
                    return services
                await asyncio.sleep(0.2)

    def holder(self, session: str) -> str:
        url = self.services["worker-1"]["environment"]["BRIDLE_DATABASE_URL"]
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT owner FROM bridle.sessions WHERE id = %s", (session,)).fetchone()
        assert row is not None
        return str(row[0]).rpartition("-")[0]


def get(url: str, authority: ssl.SSLContext, token: str) -> bytes:
    asked = urllib.request.Request(url, headers={"authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, context=authority, timeout=10) as answer:
        return answer.read()


@pytest.fixture
def cluster():
    """Give the script a folder that PostgreSQL can reach as any user."""
    folder = Path(tempfile.mkdtemp(prefix="bridle-cluster-"))
    folder.chmod(0o711)
    cluster = Cluster(folder / "c")
    yield cluster
    cluster("down")
    folder.rmdir()


async def test_the_cluster_of_the_compose_file_serves_and_survives(cluster: Cluster):
    done = await asyncio.to_thread(cluster, "up", "--detach")
    assert done.returncode == 0, done.stderr
    services = cluster.services
    assert {name: one["condition"] for name, one in services.items()} == SERVICES
    work = cluster.folder / "volumes/workspaces"
    model = work / "model.json"
    replies = [bash("echo x >> mark"), bash("sleep 60"), {"text": "Bye."}]
    model.write_text(json.dumps({"replies": replies}))

    first, second = await cluster.api("gateway-1"), await cluster.api("gateway-2")
    try:
        session = await prompted(first, f"scripted/{model}", work)
        await until(second, session, ToolStarted, times=2)
        lost = await asyncio.to_thread(cluster.holder, session)
        os.kill(services[lost]["pid"], signal.SIGKILL)
        records = await until(second, session, RunEnded)
    finally:
        await first.aclose()
        await second.aclose()

    assert results(records) == [("bash", False), ("bash", True)]
    assert (work / "mark").read_text() == "x\n"
    again = await cluster.until(**{lost: "healthy"})
    assert (again[lost]["restarts"], again[lost]["status"]) == (1, -signal.SIGKILL)
    told = await asyncio.to_thread(cluster, "exec", "gateway-2", "bridle", "session", "verify")
    assert told.returncode == 0, told.stderr
    made = await asyncio.to_thread(cluster, "exec", "gateway-1", "bridle", "token", "create", "--user", "ann")
    authority = ssl.create_default_context(cafile=str(cluster.folder / "volumes/certificates/ca.pem"))
    address = services["load-balancer"]["addresses"]["8443"].replace("127.0.0.1", "localhost")
    listed = await asyncio.to_thread(get, f"https://{address}/sessions", authority, made.stdout.strip())
    assert [one["id"] for one in json.loads(listed)["sessions"]] == [session]

    done = await asyncio.to_thread(cluster, "down")
    assert (done.returncode, done.stdout) == (0, "all services have stopped\n")
    assert not cluster.folder.exists()
    assert processes_of(cluster.folder) == []


async def test_nothing_is_left_of_a_cluster_that_was_interrupted_or_killed(cluster: Cluster):
    for number in (signal.SIGINT, signal.SIGKILL):
        supervisor = subprocess.Popen(
            [*cluster.program, "up"],
            cwd=ROOT,
            env=cluster.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        async with asyncio.timeout(PATIENCE_S):
            while not (cluster.folder / "state.json").exists():  # noqa: ASYNC110  of another process
                await asyncio.sleep(0.05)
        await cluster.until(postgres="healthy")

        supervisor.send_signal(number)
        await asyncio.to_thread(supervisor.communicate)

        assert supervisor.returncode == (0 if number == signal.SIGINT else -number)
        async with asyncio.timeout(PATIENCE_S):
            while processes_of(cluster.folder):  # noqa: ASYNC110  other processes give no event
                await asyncio.sleep(0.05)


def test_a_service_that_fails_is_named(cluster: Cluster, tmp_path: Path):
    file = tmp_path / "compose.yaml"
    file.write_text("services: {one: {command: [sh, -c, 'echo it broke >&2; exit 3']}}\n")

    done = cluster("up", "--file", str(file))

    assert (done.returncode, done.stdout, done.stderr) == (1, "", "cluster: one failed: it broke\n")


def test_what_does_not_run_is_said(cluster: Cluster):
    done = cluster("status")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"cluster: no cluster runs in {cluster.folder} (hint: up)\n"
