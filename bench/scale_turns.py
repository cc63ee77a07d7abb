"""Cost of durability: a run of 50 turns with a tool each, on one machine's store and on a cluster.

| case | processes |
|---|---|
| sqlite | one process |
| postgres | one process, with PostgreSQL as its store |
| cluster | a gateway, a worker whose model calls and tool calls are steps of the engine, PostgreSQL |

CPU is the sum of all processes except the client. The model is a script inside the process, so the figures
show the cost of the engine and of the store. The cases take turns.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from children import child_figures
from measure import report, rounds
from rows import Line, Row, figure, ours
from scale_stage import Cluster, cluster, load, looking, run_once, tree_cpu_s, until_quiet, used

TURNS = 50
ROUNDS = rounds(5)
SHORT_RUNS = 40
IDLE_S = 3.0
SCRIPT = looking(TURNS)


async def alone(home: str, work: str, model: str) -> tuple[float, float]:
    """Return CPU and wall seconds of one run in this process, after a run that loads everything."""
    from bridle.app import open_service
    from bridle.config.settings import load_settings

    environ = {"HOME": home, "PATH": os.environ["PATH"], "BRIDLE_HOME": home}
    if url := os.environ.get("BRIDLE_DATABASE_URL"):
        environ["BRIDLE_DATABASE_URL"] = url
    service = open_service(load_settings(environ, Path("/")), environ)
    await run_once(service, Path(work), model)
    began, began_wall = time.process_time(), time.monotonic()
    await run_once(service, Path(work), model)
    figures = time.process_time() - began, time.monotonic() - began_wall
    await service.aclose()
    return figures


async def compare(folder: str) -> dict[str, list[dict[str, float]]]:
    """Run all three in turn; return the use of each round, by process."""
    found: dict[str, list[dict[str, float]]] = {"sqlite": [], "postgres": [], "cluster": []}
    async with cluster(folder) as stage:
        model = stage.script(SCRIPT)
        await stage.start("worker")
        gateway = await stage.start("gateway")
        homes = {
            "sqlite": stage.folder / "alone",
            "postgres": stage.home("alone-postgres"),
        }
        homes["sqlite"].mkdir()
        (homes["sqlite"] / "config.toml").write_text("[memory]\nenabled = false\n")
        os.environ["BRIDLE_DATABASE_URL"] = stage.url
        async with stage.client(gateway) as api:
            await run_once(api, stage.work, model)
            for _ in range(ROUNDS):
                for name, home in homes.items():
                    database = tree_cpu_s(stage.server.pid)
                    argv = (__file__, str(home), str(stage.work), model)
                    cpu, wall = await asyncio.to_thread(child_figures, *argv)
                    # PostgreSQL has served two runs, of which one is measured.
                    database = (tree_cpu_s(stage.server.pid) - database) / 2
                    found[name].append({"process": cpu, "wall": wall})
                    if name == "postgres":
                        found[name][-1]["postgres"] = database - await idle_cpu(stage, 2 * wall) / 2
                found["cluster"].append(await served(stage, api, model))
            await short_runs(stage, api)
    return found


async def short_runs(stage: Cluster, api: object) -> None:
    """Print the cost of runs of one turn, which is mostly the fixed cost of a run."""
    model = stage.script(looking(1), "short")
    await until_quiet(stage)
    before = stage.cpu()
    await asyncio.sleep(IDLE_S)
    idle = used(before, stage.cpu())
    before, began = stage.cpu(), time.monotonic()
    for _ in range(SHORT_RUNS):
        await run_once(api, stage.work, model)
    wall = time.monotonic() - began
    each = {
        role: (cpu - idle[role] * wall / IDLE_S) / SHORT_RUNS * 1000
        for role, cpu in used(before, stage.cpu()).items()
    }
    parts = ", ".join(f"{role} {cpu:.1f}" for role, cpu in each.items())
    print(f"a run of one turn without a tool: {sum(each.values()):.1f} ms CPU ({parts})")


async def idle_cpu(stage: Cluster, seconds: float) -> float:
    """Return PostgreSQL's CPU for an idle cluster over a period."""
    before = tree_cpu_s(stage.server.pid)
    await asyncio.sleep(seconds)
    return tree_cpu_s(stage.server.pid) - before


async def served(stage: Cluster, api: object, model: str) -> dict[str, float]:
    """Return the CPU of one run through a gateway and a worker."""
    await until_quiet(stage)
    before, began = stage.cpu(), time.monotonic()
    await run_once(api, stage.work, model)
    wall = time.monotonic() - began
    return {**used(before, stage.cpu()), "wall": wall}


def main() -> list[Line]:
    """Compare CPU and wall time per turn."""
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(compare(folder))
    cpu, wall = {}, {}
    for name, runs in found.items():
        middle = {key: statistics.median(one[key] for one in runs) / TURNS * 1000 for key in runs[0]}
        print(f"{name}, ms per turn: {', '.join(f'{key} {value:.2f}' for key, value in middle.items())}")
        cpu[name] = [sum(value for key, value in one.items() if key != "wall") for one in runs]
        wall[name] = [one["wall"] for one in runs]
    print(load())
    scale, what = 1e3 / TURNS, "a turn with a tool on"
    lite, lite_wall = (figure("SQLite, one process", one["sqlite"], scale=scale) for one in (cpu, wall))
    alone, cluster_cpu = (ours(cpu[name], scale=scale) for name in ("postgres", "cluster"))
    cluster_wall = ours(wall["cluster"], scale=scale)
    return report(
        [
            Row("scale.turn.postgres", f"{what} PostgreSQL, one process", "ms CPU", alone, (lite,), 4.0),
            Row(
                "scale.turn.cluster", f"{what} a cluster, all processes", "ms CPU", cluster_cpu, (lite,), 12.0
            ),
            Row("scale.turn.cluster.time", f"{what} a cluster", "ms", cluster_wall, (lite_wall,), 20.0),
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        print(*asyncio.run(alone(*sys.argv[1:])))
