"""Runs per second with 1, 2 and 4 workers, and how long a prompt waits for a worker.

Like real runs, these wait for their model, which answers over HTTP after a second, three times per run. A
worker takes 8 sessions at a time, so this number limits it, not the CPU. More sessions are always waiting.
All processes share the cores of one machine; the bench prints their CPU, which shows how much of the machine
is still free.
"""

import asyncio
import tempfile
import time
from typing import Any

from children import serving
from measure import report
from rows import Line, Row, figure, ours
from scale_stage import Cluster, Process, begin, cluster, load, looking, run_once, spread, until_quiet, used

RUNS = 8
DELAY_MS = 1000
TURNS = 3
WAVES = 5
ROUNDS = 2
PROMPTS = 100
WORKERS = (1, 2, 4)
SCRIPT = looking(TURNS, delay_ms=DELAY_MS)
QUICK = {"replies": [{"text": "Hello."}]}


async def throughput(folder: str, url: str) -> tuple[dict[int, list[float]], list[float], list[float]]:
    """Return runs per second by number of workers, and the seconds until prompts are taken and started."""
    found: dict[int, list[float]] = {count: [] for count in WORKERS}
    async with cluster(folder) as stage:
        provider = f'[providers.local]\nbase_url = "{url}"'
        gateway = await stage.start("gateway", more=provider)
        for _ in range(ROUNDS):
            workers: list[Process] = []
            for count in WORKERS:
                while len(workers) < count:
                    workers.append(await stage.start("worker", scale=f"runs = {RUNS}", more=provider))
                found[count].append(await full_of_work(stage, gateway, count))
            if len(found[WORKERS[0]]) < ROUNDS:
                for worker in workers:
                    await stage.stop(worker)
        taken, begun = await acceptance(stage, gateway)
    return found, taken, begun


async def full_of_work(stage: Cluster, gateway: Process, workers: int) -> float:
    """Keep workers busy for several waves of runs; return runs per second."""
    capacity = workers * RUNS
    slots = asyncio.Semaphore(capacity + capacity // 2)  # more than the workers can take

    async def one(api: Any) -> None:
        async with slots:
            ended = await run_once(api, stage.work, "local/bench")
            assert ended.turns == TURNS, ended

    async with stage.client(gateway) as api:
        await asyncio.gather(*(one(api) for _ in range(capacity)))
        await until_quiet(stage)
        before, began = stage.cpu(), time.monotonic()
        await asyncio.gather(*(one(api) for _ in range(WAVES * capacity)))
        wall = time.monotonic() - began
        spent = used(before, stage.cpu())
    rate = WAVES * capacity / wall
    parts = ", ".join(f"{role} {seconds / wall:.2f}" for role, seconds in spent.items())
    most = capacity / (TURNS * DELAY_MS / 1000)
    print(
        f"{workers} workers: {rate:.2f} runs/s of {most:.2f} that the model allows; cores: {parts}; {load()}"
    )
    return rate


async def acceptance(stage: Cluster, gateway: Process) -> tuple[list[float], list[float]]:
    """Return the seconds until idle workers take prompts, and until clients see their runs."""
    model = stage.script(QUICK, "quick")
    taken, begun = [], []
    async with stage.client(gateway) as api:
        for _ in range(PROMPTS):
            began = time.monotonic()
            session, receipt = await begin(api, stage.work, model)
            taken.append(time.monotonic() - began)
            seen = api.watch(session, receipt.seq - 1)
            async for _ in seen:
                begun.append(time.monotonic() - began)
                break
            await seen.aclose()
    return taken, begun


def main() -> list[Line]:
    """Compare with linear growth; at least 0.8 of it is required."""
    with tempfile.TemporaryDirectory() as folder, serving(SCRIPT) as url:
        rates, taken, begun = asyncio.run(throughput(folder, url))
    print(f"from a new session's prompt to its receipt: {spread(taken)}")
    print(f"from a new session's prompt to the beginning of its run, seen by its client: {spread(begun)}")
    rows = []
    for count in WORKERS[1:]:
        each = ours((1 / rate for rate in rates[count]), scale=1e3)
        linear = figure("one worker's time, divided", (1 / rate for rate in rates[1]), scale=1e3 / count)
        rows.append(
            Row(f"scale.workers.{count}", f"a run of {count} busy workers", "ms", each, (linear,), 1.25)
        )
    return report(rows)


if __name__ == "__main__":
    main()
