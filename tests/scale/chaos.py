"""Many scripted runs while workers, gateways and PostgreSQL are killed, frozen, drained and restarted.

`make chaos` calls it: python -m tests.scale.chaos [--runs 200] [--seconds 180] [--seed N]
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.protocol import SessionCreated
from tests.scale.clients import Clients
from tests.scale.plays import make_play
from tests.scale.stage import Cluster, seed_of
from tests.scale.storm import Storm
from tests.scale.verdict import faults_of, left_behind, unrest
from tests.scale.visitors import Visitor

MAX_SHOWN = 5  # sessions whose logs are printed
LINE_CHARS = 400
GROUPS = 10  # of clients that share a connection, on which only so much is asked at once
_LEGS = """
SELECT workflow_uuid, status, executor_id, queue_name, recovery_attempts, output, left(inputs, 300)
FROM dbos.workflow_status WHERE workflow_uuid LIKE %s ORDER BY created_at
"""
SPREAD = 0.8  # of the time in which sessions begin


class Plan(Struct, frozen=True):
    """How much of it."""

    seed: int
    runs: int
    seconds: float
    pause_s: float = 1.5
    """Between two harms, on average."""
    patience_s: float = 120.0
    """For runs to end once nothing is harmed any more."""
    workers: int = 3
    gateways: int = 2
    logs: bool = False
    """Show what the nodes have said in any case."""


async def chaos(folder: Path, plan: Plan) -> list[str]:
    """Run a storm over a cluster, with a report on stdout; return what went wrong."""
    print(f"chaos: seed {plan.seed}, {plan.runs} sessions, {plan.seconds:g} s")
    wrong: list[str] = []
    async with Cluster(
        folder, workers=plan.workers, gateways=plan.gateways, spread=True, scale={"take_timeout": "10s"}
    ) as cluster:
        where = "namespaces of the network" if cluster.network is not None else "the loopback network"
        print(f"{plan.workers} workers and {plan.gateways} gateways in {where}")
        async with AsyncExitStack() as stack:
            groups = [Clients(cluster.gateways, _chance(plan, f"clients {n}")) for n in range(GROUPS)]
            for clients in groups:
                stack.push_async_callback(clients.aclose)
            plays = [make_play(cluster.projects, n, _chance(plan, f"play {n}")) for n in range(plan.runs)]
            visitors = [
                Visitor(groups[n % GROUPS], play, _chance(plan, f"visitor {n}"))
                for n, play in enumerate(plays)
            ]
            storm = Storm(cluster, _chance(plan, "storm"))
            wrong += await _play(plan, storm, visitors)
        wrong += await unrest(cluster)
        faults = await faults_of(cluster, visitors)
        wrong += [f"{session}: {fault}" for session, found in faults.items() for fault in found]
        records = len(await cluster.postgres.rows("SELECT 1 FROM bridle.records"))
        print(f"harm: {dict(storm.done)}; exits: {dict(storm.exits)}")
        retries = sum(clients.retries for clients in groups)
        print(f"{len(await cluster.store.ids())} sessions, {records} records, {retries} retries")
        if wrong or plan.logs:
            cluster.print_logs()
            await _show(cluster, [*faults, *_unfinished(visitors)][:MAX_SHOWN])
    wrong += [f"left behind: {process}" for process in await left_behind(folder)]
    return wrong


async def _play(plan: Plan, storm: Storm, visitors: Sequence[Visitor]) -> list[str]:
    """Play all sessions during the storm; return those that ended late or badly."""
    began = time.monotonic()
    chance = _chance(plan, "starts")
    spread_s = plan.seconds * SPREAD
    visits = [asyncio.create_task(_later(chance.uniform(0, spread_s), visitor)) for visitor in visitors]
    raging = asyncio.create_task(storm.rage(plan.seconds, plan.pause_s))
    try:
        await raging
        print(f"calm after {time.monotonic() - began:.0f} s")
        watching = asyncio.create_task(storm.watch_over())
        _, late = await asyncio.wait(visits, timeout=plan.patience_s)
        print(f"over after {time.monotonic() - began:.0f} s")
        watching.cancel()
    finally:
        for task in (*visits, raging):
            task.cancel()
        ended = await asyncio.gather(*visits, return_exceptions=True)
    broken = [repr(error) for error in ended if isinstance(error, Exception)]
    return [*broken, *([f"{len(late)} sessions did not end in time"] if late else [])]


def _chance(plan: Plan, what: str) -> random.Random:
    """Give each its own numbers: what one does, does not depend on how quick the others are."""
    return random.Random(f"{plan.seed} {what}")


async def _later(seconds: float, visitor: Visitor) -> None:
    await asyncio.sleep(seconds)
    await visitor.visit()


def _unfinished(visitors: Sequence[Visitor]) -> list[SessionId]:
    return [visitor.play.session for visitor in visitors if not visitor.is_over]


async def _show(cluster: Cluster, sessions: Sequence[SessionId]) -> None:
    for session in dict.fromkeys(sessions):
        print(f"---- {session}")
        for row in await cluster.postgres.rows(_LEGS, (f"{session}%",)):
            print(*row)
        for record in await cluster.records(session):
            print(record.seq, record.at, encode(record.event).decode()[:LINE_CHARS])
            if isinstance(record.event, SessionCreated) and record.event.parent is not None:
                await _show(cluster, [record.event.parent])


def main(words: Sequence[str]) -> int:
    """Run the long form; 0 when all went well."""
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seed")
    parser.add_argument("--patience", type=float, default=300)
    parser.add_argument("--logs", action="store_true", help="show what the nodes have said in any case")
    args = parser.parse_args(words)
    plan = Plan(seed_of(args.seed), args.runs, args.seconds, patience_s=args.patience, logs=args.logs)
    with tempfile.TemporaryDirectory(prefix="bridle-chaos-") as folder:
        wrong = asyncio.run(chaos(Path(folder) / "cluster", plan))
    for line in wrong:
        print(f"wrong: {line}")
    print(f"chaos: {'passed' if not wrong else f'failed with seed {plan.seed}'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
