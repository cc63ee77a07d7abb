"""Everything at once for a limited time, while processes die; nothing is lost, duplicated or left.

`make soak` calls it: python -m tests.endurance.soak [--minutes 3] [--hours 0] [--seed N] [--report FILE]

| part | what it does | what dies |
|---|---|---|
| surfaces | scenarios at random on every surface: program, terminal, daemon, REST, JSON-RPC, MCP, gRPC, ACP, Python, page, screen | nothing: each log equals that of the engine |
| storm | sessions with tools, approvals, kernels, MCP servers, sub-agents, queues; then compaction, forks, rewinds | the daemon, kernels, MCP servers |
| points | steps of a play on the disk, in both stores | the process, or the disk |
"""  # noqa: E501  a table

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.conformance.world import environment
from tests.endurance.points_part import points
from tests.endurance.soak_report import Part, Report
from tests.endurance.storm_part import storm
from tests.endurance.surfaces_part import surfaces
from tests.scale.verdict import left_behind


async def soak(folder: Path, seconds: float, seed: int, *, every: int = 0, model: str = "") -> Report:
    """Let all parts work side by side; `every` is that of the points, 0 is none."""
    began = time.monotonic()
    environ = environment()
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    jobs = [
        surfaces(folder / "calm", environ, seconds, random.Random(f"{seed} surfaces")),
        storm(folder / "storm", environ, seconds, random.Random(f"{seed} storm"), model),
        *([points(every)] if every else []),
    ]
    parts: list[Part] = await asyncio.gather(*jobs)
    wrong = [f"left behind: {process}" for process in await left_behind(folder)]
    return Report(seed, round(time.monotonic() - began, 1), parts, wrong)


def main(words: Sequence[str]) -> int:
    """Soak; 0 when all went well."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--every", type=int, help="of the points on the disk; the longer it takes the more")
    parser.add_argument(
        "--model", default="", help="a model to talk with as well, such as embedded/FILE.gguf"
    )
    parser.add_argument("--report", type=Path, help="write figures as JSON, and as text beside it")
    args = parser.parse_args(words)
    seconds = 60 * (args.minutes + 60 * args.hours) if args.hours == 0 else 3600 * args.hours
    every = args.every if args.every is not None else max(1, round(2400 / seconds))
    print(f"soak: seed {args.seed}, {seconds:g} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="bridle-soak-") as folder:
        report = asyncio.run(soak(Path(folder), seconds, args.seed, every=every, model=args.model))
    print(report.text)
    if args.report is not None:
        args.report.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
        args.report.with_suffix(".txt").write_text(report.text + "\n")
    return int(bool(report.faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
