"""Costs and savings of the daemon: a thin client, many runs at once, its memory, and a long stream.

`client`: CPU of `bridle run -p` through a warm daemon, from its start until the daemon's request reaches the
model, compared with `python -c "import asyncio"` and with the same command without a daemon.
`runs`: 200 runs of 5 turns at once, each on its own connection, compared with the same engine in one process;
the figure is the sum of the daemon and the clients.
`events`: 100,000 small records of one session, read by a watcher who joins late, compared in the same way.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from children import child_env, child_figures
from coldstart import cpu_until_request_s
from measure import PYTHON, child_cpu_s, report, rounds
from rows import Line, Row, figure, ours

from bridle.core.queries import ListSessions
from bridle.core.session_api import SessionApi
from bridle.surfaces.shared.session_calls import wait_for_run

if TYPE_CHECKING:
    from bridle.core.ids import SessionId

ROUNDS = rounds(9)
REPEATS = rounds(3)
RUNS = 200
TURNS = 5
EVENTS = 100_000
TIMEOUT_S = 60.0
_CPUCLOCK_SCHED = 2  # of the kernel's posix-timers.h: the time that all threads of a process ran

LOOK = {"calls": [{"name": "list_files", "args": {}}]}
SCRIPT = {"replies": [*([LOOK] * (TURNS - 1)), {"text": "All files have been looked at."}]}


def main() -> list[Line]:
    """Compare CPU time; the bars are 1.6, 0.5, 1.5, 60 MB and 3.5."""
    return report([*thin_client(), *many_runs(), *long_stream()])


@contextmanager
def daemon(home: Path) -> Iterator[int]:
    """Run the daemon of a home; yield its process."""
    env = child_env(BRIDLE_HOME=str(home))
    subprocess.run(
        [PYTHON, "-m", "bridle", "daemon", "start"], env=env, check=True, stdout=subprocess.DEVNULL
    )
    try:
        yield int((home / "run" / "daemon.lock").read_text())
    finally:
        subprocess.run(
            [PYTHON, "-m", "bridle", "daemon", "stop"], env=env, check=True, stdout=subprocess.DEVNULL
        )


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    return time.clock_gettime(~pid << 3 | _CPUCLOCK_SCHED)


# ---------------------------------------------------------------------------- a thin client


def thin_client() -> list[Row]:
    """Measure the CPU of a command until its request is sent, with a daemon and without one."""
    floors, alone, served = [], [], []
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_S)
        home, work = Path(folder) / "home", Path(folder) / "work"
        home.mkdir()
        work.mkdir()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        (home / "config.toml").write_text(f'model = "local/bench"\n[providers.local]\nbase_url = "{url}"\n')
        alone = [cpu_until_request_s(server, home, work) for _ in range(max(2, ROUNDS // 2))]
        with daemon(home):
            cpu_until_request_s(server, home, work)  # warms it up
            for _ in range(ROUNDS):
                floors.append(child_cpu_s([PYTHON, "-c", "import asyncio"]))
                served.append(cpu_until_request_s(server, home, work))
    thin, what = ours(served, scale=1e3), "bridle run through the daemon until its request"
    floor = figure("python -c 'import asyncio'", floors, scale=1e3)
    thick = figure("the same without a daemon", alone, scale=1e3)
    return [
        Row("daemon.client", what, "ms CPU", thin, (floor,), 1.6),
        Row("daemon.client-alone", what, "ms CPU", thin, (thick,), 0.5),
    ]


# ---------------------------------------------------------------------------- many runs at once


def many_runs() -> list[Row]:
    """Measure many runs at once, in the daemon and in one process, and the daemon's memory before them."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "file.txt").write_text("text\n")
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(SCRIPT))
        own, home = _home(folder, "alone"), _home(folder, "served")
        alone, served = [], []
        with daemon(Path(home)) as pid:
            idle_mb = _resident_mb(pid)
            child_figures(__file__, "runs", home, str(work), str(script))  # loads what the first run loads
            for _ in range(REPEATS):
                alone += child_figures(__file__, "runs-alone", own, str(work), str(script))
                before = cpu_s(pid)
                [clients] = child_figures(__file__, "runs", home, str(work), str(script))
                served.append(cpu_s(pid) - before + clients)
            print(f"memory of the daemon: idle {idle_mb:.0f} MB, after its runs {_resident_mb(pid):.0f} MB")
    what = f"{RUNS} runs of {TURNS} turns at once, daemon and clients"
    return [
        Row("daemon.runs", what, "s CPU", ours(served), (figure("in one process", alone),), 1.5),
        Row("daemon.memory", "memory of an idle daemon", "MB", ours([idle_mb]), bar=60.0),
    ]


def _home(folder: str, name: str) -> str:
    home = Path(folder) / name
    home.mkdir()
    return str(home)


def _resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


async def run_alone(home: str, work: str, script: str) -> float:
    """Return the CPU seconds of the runs in this process, without its start."""
    from bridle.app import open_service
    from bridle.config.settings import load_settings

    environ = {"BRIDLE_HOME": home, "HOME": home, "PATH": os.environ["PATH"]}
    service = open_service(load_settings(environ, Path("/")), environ)  # as the daemon does
    await asyncio.gather(*(run_once(service, work, script) for _ in range(RUNS)))
    began = time.process_time()
    await asyncio.gather(*(run_once(service, work, script) for _ in range(RUNS)))
    used_s = time.process_time() - began
    await service.aclose()
    return used_s


async def run_served(home: str, work: str, script: str) -> float:
    """Return the CPU seconds of this process for the same runs in the daemon."""
    from bridle.surfaces.daemon.daemon_files import DaemonFiles
    from bridle.surfaces.daemon.launcher import connect_if_running

    async def run_by_itself() -> None:
        client = await connect_if_running(DaemonFiles(Path(home)))
        assert client is not None
        await run_once(client, work, script)
        await client.aclose()

    began = time.process_time()
    await asyncio.gather(*(run_by_itself() for _ in range(RUNS)))
    return time.process_time() - began


async def run_once(api: "SessionApi", work: str, script: str) -> None:
    """Create a session and watch its run to the end."""
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt, RunOptions

    session = await api.create(cwd=work)
    prompt = Prompt(user_message("Look."), RunOptions(model=f"scripted/{script}"))
    receipt = await api.submit(session, prompt)
    assert receipt.run_id is not None
    ended = await wait_for_run(api, session, receipt.run_id)
    assert (ended.outcome, ended.turns) == ("completed", TURNS), ended


# ---------------------------------------------------------------------------- a long stream


def long_stream() -> list[Row]:
    """Measure a watcher of a long session, in the daemon and in one process."""
    with tempfile.TemporaryDirectory() as folder:
        home = _home(folder, "home")
        alone = child_figures(__file__, "events-alone", home)
        served = []
        with daemon(Path(home)) as pid:
            child_figures(__file__, "events", home)
            for _ in range(REPEATS):
                before = cpu_s(pid)
                client, wall = child_figures(__file__, "events", home)
                served.append(cpu_s(pid) - before + client)
                print(f"{EVENTS:,} events over one watch: {EVENTS / wall:,.0f} a second")
    each, direct = ours(served, scale=1e6 / EVENTS), figure("in one process", alone, scale=1e6 / EVENTS)
    what = f"an event of {EVENTS:,} over one watch, daemon and client"
    return [Row("daemon.events", what, "µs CPU", each, (direct,), 3.5)]


async def watch_alone(home: str) -> tuple[float, ...]:
    """Write a long session, and return the CPU seconds of each watcher in this process."""
    from bridle.app import open_service
    from bridle.config.settings import load_settings
    from bridle.core.protocol import SessionTitled

    environ = {"BRIDLE_HOME": home, "HOME": home, "PATH": os.environ["PATH"]}
    service = open_service(load_settings(environ, Path(home)), environ)
    session = await service.create(cwd=home)
    store = service._engine.store  # noqa: SLF001  no command writes that many events
    for first in range(1, EVENTS, 1000):
        titles = [SessionTitled(f"title {number}") for number in range(first, min(first + 1000, EVENTS))]
        await store.append(session, first, titles)
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        await watch_all(service, session)
        times.append(time.process_time() - began)
    await service.aclose()
    return tuple(times)


async def watch_served(home: str) -> tuple[float, float]:
    """Return the CPU and the wall seconds of a watcher of the same session in the daemon."""
    from bridle.surfaces.daemon.daemon_files import DaemonFiles
    from bridle.surfaces.daemon.launcher import connect_if_running

    client = await connect_if_running(DaemonFiles(Path(home)))
    assert client is not None
    [summary] = await client.ask(ListSessions())
    began, began_wall = time.process_time(), time.monotonic()
    await watch_all(client, summary.id)
    used_s, wall_s = time.process_time() - began, time.monotonic() - began_wall
    await client.aclose()
    return used_s, wall_s


async def watch_all(api: "SessionApi", session: "SessionId") -> None:
    """Watch until the last event."""
    seen = 0
    stream = api.watch(session)
    async for _ in stream:
        seen += 1
        if seen == EVENTS:
            break
    await stream.aclose()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        kind, *words = sys.argv[1:]
        works = {
            "runs": run_served,
            "runs-alone": run_alone,
            "events": watch_served,
            "events-alone": watch_alone,
        }
        figures = asyncio.run(works[kind](*words))
        print(*(figures if isinstance(figures, tuple) else (figures,)))
