"""Cost of 1,000 runs that wait for an approval, and the time until a run continues after its answer.

A worker releases a run that waits longer than `scale.rest_after` (here a second). The worker has already
completed as many such runs, so memory that it keeps after any run is there from the start.
"""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import report
from rows import Line, Row, figure, ours
from scale_stage import (
    PATIENCE_S,
    Cluster,
    Process,
    begin,
    cluster,
    load,
    resident_mb,
    spread,
    threads,
    until_quiet,
)

SESSIONS = 1_000
AT_ONCE = 100
ANSWERED = 100
SCRIPT = {
    "replies": [
        {
            "text": "I will write it.",
            "calls": [{"name": "write_file", "args": {"path": "a", "content": "b"}}],
        },
        {"text": "It was not wanted."},
    ]
}


async def until_asked(api: Any, stage: Cluster, model: str) -> tuple[Any, Any]:
    """Start a run and wait for its approval request; return the session and the request."""
    from bridle.core.protocol import ApprovalRequested, Record

    session, _ = await begin(api, stage.work, model)
    items = api.watch(session, 0)
    async for item in items:
        if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
            break
    await items.aclose()
    return session, item.event.call_id


async def answer(api: Any, session: Any, call_id: Any) -> tuple[float, float]:
    """Deny a request; return the seconds until the receipt and until the end of the run."""
    from bridle.core.protocol import Decide, Record, RunEnded

    began = time.monotonic()
    receipt = await api.submit(session, Decide(call_id, "deny"))
    taken = time.monotonic() - began
    items = api.watch(session, receipt.seq - 1)
    async for item in items:
        if isinstance(item, Record) and isinstance(item.event, RunEnded):
            break
    ended = time.monotonic() - began
    await items.aclose()
    return taken, ended


async def ask_all(stage: Cluster, api: Any, model: str, count: int) -> list[tuple[Any, Any]]:
    """Start runs that wait for an approval, and wait until the worker has released all of them."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one() -> tuple[Any, Any]:
        async with slots:
            return await until_asked(api, stage, model)

    asked = await asyncio.gather(*(one() for _ in range(count)))
    async with asyncio.timeout(PATIENCE_S):
        while stage.run("SELECT count(*) FROM bridle.sessions WHERE owner <> ''")[0][0]:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    await until_quiet(stage)
    return asked


async def answer_all(api: Any, asked: list[tuple[Any, Any]]) -> None:
    """Answer all of them."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(session: Any, call_id: Any) -> None:
        async with slots:
            await answer(api, session, call_id)

    await asyncio.gather(*(one(*each) for each in asked))


def connections(stage: Cluster) -> int:
    """Return the number of connections to PostgreSQL."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    found: int = stage.run(asked)[0][0]
    return found - 1


def figures(stage: Cluster, worker: Process, gateway: Process, when: str) -> float:
    """Print the resources of a worker, and return its memory."""
    memory = resident_mb(worker.pid)
    print(
        f"{when}: worker {memory:.1f} MB, {threads(worker.pid)} threads, "
        f"{len(os.listdir(f'/proc/{worker.pid}/fd'))} descriptors; "
        f"gateway {resident_mb(gateway.pid):.1f} MB; {connections(stage)} connections to PostgreSQL"
    )
    return memory


async def wait_for_people(folder: str) -> tuple[list[float], list[tuple[float, float]]]:
    """Return the worker's memory in the stages of the bench, and the times of answers."""
    async with cluster(folder) as stage:
        model = stage.script(SCRIPT)
        worker = await stage.start("worker", scale='runs = 128\nrest_after = "1s"')
        gateway = await stage.start("gateway")
        async with stage.client(gateway) as api:
            await answer_all(api, await ask_all(stage, api, model, SESSIONS))
            await until_quiet(stage)
            memory = [figures(stage, worker, gateway, "before")]
            began = time.monotonic()
            asked = await ask_all(stage, api, model, SESSIONS)
            print(f"{SESSIONS} runs were released in {time.monotonic() - began:.0f} s; {load()}")
            memory.append(figures(stage, worker, gateway, f"with {SESSIONS} waiting runs"))
            answered = [await answer(api, *each) for each in asked[:ANSWERED]]
            await answer_all(api, asked[ANSWERED:])
            await until_quiet(stage)
            memory.append(figures(stage, worker, gateway, "after all answers"))
    return memory, answered


def main() -> list[Line]:
    """Compare the memory with and without waiting runs; they need none, so the bar only allows for noise."""
    with tempfile.TemporaryDirectory() as folder:
        (before, with_them, after), answered = asyncio.run(wait_for_people(str(Path(folder))))
    print(f"from an answer to its receipt: {spread([taken for taken, _ in answered])}")
    print(f"from an answer to the end of its run: {spread([ended for _, ended in answered])}")
    each_kb = (with_them - before) * 1024 / SESSIONS
    print(
        f"{each_kb:.1f} kB more for each waiting session, {(after - before) * 1024 / SESSIONS:.1f} kB after"
    )
    what, without = f"memory of a worker with {SESSIONS:,} waiting runs", figure("before", [before])
    return report([Row("scale.waiting", what, "MB", ours([with_them]), (without,), 1.05)])


if __name__ == "__main__":
    main()
