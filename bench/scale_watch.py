"""Delay until a client at another gateway sees the output of a worker.

```
model ─ fragment with the time ─▶ worker ─▶ gateway 2 ─▶ client        prompts come in at gateway 1
```

The delay of a fragment starts when the model sends it, so it includes the time the worker takes to read it.
The delay of a record starts when the worker creates it, before PostgreSQL stores it.

| load | sessions |
|---|---|
| light | one, 50 fragments a second |
| busy | 50, each 20 fragments a second: as fast as people read |
| records | 10, each 5 turns a second, with a tool call in each |
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from children import child_env
from measure import PYTHON, report
from rows import Line, Row, ours
from scale_stage import Cluster, cluster, load, looking, percentile, spread, used

LOADS = {
    "light": (1, "local/clock-2000-20"),
    "busy": (50, "local/clock-200-50"),
    "records": (10, ""),
}
"""The number of sessions and their model; the last model is a script."""
TURNS = 50
APART_S = 0.1  # sessions do not start at the same moment


@contextmanager
def clock() -> Iterator[str]:
    """Start the model; yield its address."""
    argv = [PYTHON, str(Path(__file__).with_name("scale_clock.py"))]
    with subprocess.Popen(argv, env=child_env(), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


async def watch_one(api: Any, session: str) -> tuple[list[float], list[float]]:
    """Watch a session until its run ends; return the delays of fragments and records."""
    from bridle.core.protocol import Record, RunEnded, TextDelta

    fragments, records = [], []
    items = api.watch(session, None)
    await anext(items)  # earlier records
    print("ready", flush=True)
    async for item in items:
        now = time.time_ns()
        if isinstance(item, TextDelta) and len(item.text) > 15 and item.text.strip().isdigit():
            fragments.append((now - int(item.text)) / 1e9)
        elif isinstance(item, Record):
            records.append(now / 1e9 - item.at / 1e3)
            if isinstance(item.event, RunEnded):
                break
    await items.aclose()
    return fragments, records


async def watch_all(home: str, *sessions: str) -> None:
    """Watch many sessions from one process, and print all delays."""
    from bridle.surfaces.daemon.daemon_files import DaemonFiles
    from bridle.surfaces.daemon.launcher import connect_if_running

    api = await connect_if_running(DaemonFiles(Path(home)))
    assert api is not None
    found = await asyncio.gather(*(watch_one(api, session) for session in sessions))
    print(*(late for fragments, _ in found for late in fragments), flush=True)
    print(*(late for _, records in found for late in records), flush=True)
    await api.aclose()


async def lateness(stage: Cluster, count: int, model: str) -> tuple[list[float], ...]:
    """Run sessions at once with a watcher each; return the delays of fragments and records."""
    one, two = (process for process in stage.processes if process.role == "gateway")
    async with stage.client(one) as api:
        sessions = [await api.create(cwd=str(stage.work)) for _ in range(count)]
        watching = await asyncio.create_subprocess_exec(
            PYTHON,
            __file__,
            str(two.home),
            *sessions,
            env=child_env(),
            stdout=asyncio.subprocess.PIPE,
            limit=2**24,
        )
        assert watching.stdout is not None
        for _ in sessions:
            assert await watching.stdout.readline() == b"ready\n"
        before, began = stage.cpu(), time.monotonic()
        await asyncio.gather(
            *(prompt(api, session, model, APART_S * place) for place, session in enumerate(sessions))
        )
        found = [[float(word) for word in (await watching.stdout.readline()).split()] for _ in range(2)]
        wall = time.monotonic() - began
        await watching.wait()
    parts = ", ".join(f"{role} {cpu / wall:.2f}" for role, cpu in used(before, stage.cpu()).items())
    print(f"{count} sessions for {wall:.0f} s; cores: {parts}; {load()}")
    for kind, late in zip(("fragments", "records"), found, strict=True):
        if late:
            print(f"  {kind}: {len(late) / wall:.0f}/s, {spread(late)}")
    return tuple(found)


async def prompt(api: Any, session: Any, model: str, wait_s: float) -> None:
    """Start the run of a session."""
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt, RunOptions

    await asyncio.sleep(wait_s)
    await api.submit(session, Prompt(user_message("What time is it?"), RunOptions(model=model)))


async def measure(folder: str, url: str) -> dict[str, tuple[list[float], ...]]:
    """Measure all loads on one worker and two gateways."""
    async with cluster(folder) as stage:
        provider = f'[providers.local]\nbase_url = "{url}"'
        await stage.start("worker", more=provider)
        for _ in range(2):
            await stage.start("gateway", more=provider)
        await lateness(stage, 1, "local/clock-50-20")  # loads what the first run loads
        script = stage.script(looking(TURNS, delay_ms=200))
        return {name: await lateness(stage, count, model or script) for name, (count, model) in LOADS.items()}


def main() -> list[Line]:
    """Compare with the limit of 50 ms."""
    with tempfile.TemporaryDirectory() as folder, clock() as url:
        found = asyncio.run(measure(folder, url))
    late = {
        ("light", "fragment"): found["light"][0],
        ("busy", "fragment"): found["busy"][0],
        ("busy", "record"): found["busy"][1],
        ("records", "record"): found["records"][1],
    }
    return report(
        [
            Row(
                f"scale.watch.{name}.{kind}",
                f"{name}: 99 of 100 {kind}s are seen after at most",
                "ms",
                ours([percentile(times, 0.99)], scale=1e3),
                bar=50.0,
            )
            for (name, kind), times in late.items()
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        asyncio.run(watch_all(*sys.argv[1:]))
