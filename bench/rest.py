"""Cost that REST adds to a run: `POST /sessions`, answered when the run has ended, against a run in process.

```
in process    create, submit, wait                                     CPU of the one process
REST          POST /sessions to a daemon, over loopback HTTP           CPU of the daemon and of its client
```

`turns` is a run of 50 turns with a tool call each, `deltas` one answer of 2,000 fragments. Both sides use the
same scripted model, settings and store; the first run of each loads code and does not count.
"""

import asyncio
import http.client
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from children import child_figures
from daemon import cpu_s, daemon
from measure import report, rounds
from rows import Line, Row, figure, ours

TURNS = 50
DELTAS = 2_000
TRIES = rounds(3)  # in turn, so that noise affects both equally
ROUNDS = rounds(8)
LOOKS = [
    {
        "text": f"I will look at file {number}.",
        "calls": [{"name": "read_file", "args": {"path": f"{number}.txt"}}],
    }
    for number in range(TURNS - 1)
]
SCRIPTS: dict[str, dict[str, Any]] = {
    "turns": {"replies": [*LOOKS, {"text": "All files have been looked at."}]},
    "deltas": {"replies": [{"text": [f"word{number % 100} " for number in range(DELTAS)]}]},
}
WHAT = {"turns": f"{TURNS} turns", "deltas": f"{DELTAS:,} deltas"}


def main() -> list[Line]:
    """Compare CPU time; the bar is 1.3."""
    return report([compare(name) for name in SCRIPTS])


def compare(name: str) -> Row:
    """Measure one kind of run in both ways."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        for number in range(TURNS):
            (work / f"{number}.txt").write_text(f"text of file {number}\n" * 20)
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(SCRIPTS[name]))
        own, home = _home(folder, "alone", script), _home(folder, "served", script)
        figures: dict[str, list[float]] = {"alone": [], "served": []}
        with daemon(Path(home)) as pid:
            for _ in range(TRIES):
                figures["alone"] += child_figures(__file__, "alone", own, str(work))
                figures["served"] += child_figures(__file__, "served", home, str(work), str(pid))
    alone = figure("in process", figures["alone"], scale=1e3)
    what = f"a run by REST, client included: {WHAT[name]}"
    return Row(f"rest.{name}", what, "ms CPU", ours(figures["served"], scale=1e3), (alone,), 1.3)


def _home(folder: str, name: str, script: Path) -> str:
    home = Path(folder) / name
    home.mkdir()
    (home / "config.toml").write_text(
        f'model = "scripted/{script}"\n[http]\nbind = "127.0.0.1:0"\n[lsp]\nenabled = false\n'
    )
    return str(home)


def all_of(run: Callable[[], None], spent_s: Callable[[], float]) -> list[float]:
    """Return the CPU seconds of several runs, after one that does not count."""
    run()
    times = []
    for _ in range(ROUNDS):
        began = spent_s()
        run()
        times.append(spent_s() - began)
    return times


async def run_alone(home: str, work: str) -> list[float]:
    """Return the CPU seconds of runs in this process."""
    from bridle.app import open_service
    from bridle.config.settings import load_settings
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt

    environ = {"BRIDLE_HOME": home, "HOME": home, "PATH": os.environ["PATH"]}
    service = open_service(load_settings(environ, Path("/")), environ)  # as the daemon does
    times = []
    for _ in range(ROUNDS + 1):
        began = time.process_time()
        session = await service.create(cwd=work)
        receipt = await service.submit(session, Prompt(user_message("Look.")))
        assert receipt.run_id is not None
        ended = await service.wait(session, receipt.run_id)
        times.append(time.process_time() - began)
        assert ended.outcome == "completed", ended
    await service.aclose()
    return times[1:]


async def run_served(home: str, work: str, pid: str) -> list[float]:
    """Return the CPU seconds of runs in the daemon, including this process, the client."""
    from bridle.surfaces.daemon.daemon_files import DaemonFiles
    from bridle.surfaces.daemon.launcher import connect_if_running

    place = DaemonFiles(Path(home))
    client = await connect_if_running(place)
    assert client is not None
    [listening] = [one for one in (await client.status()).listening if one.startswith("http ")]
    await client.aclose()
    connection = http.client.HTTPConnection(listening.removeprefix("http "))
    headers = {"authorization": f"Bearer {place.load_token()}", "content-type": "application/json"}
    body = json.dumps({"prompt": "Look.", "cwd": work})

    def run() -> None:
        connection.request("POST", "/sessions", body, headers)
        answer = connection.getresponse()
        said = json.loads(answer.read())
        assert (answer.status, said["outcome"]) == (200, "completed"), said

    return all_of(run, lambda: time.process_time() + cpu_s(int(pid)))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        chosen, *words = sys.argv[1:]
        print(*asyncio.run({"alone": run_alone, "served": run_served}[chosen](*words)))
