"""Disk steps of a play at which the process ends or the disk fails; in separate processes."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import get_args

import msgspec

from tests.endurance.crash_points import Tally
from tests.endurance.disk import Fault
from tests.endurance.soak_report import Part

ROOT = Path(__file__).parents[2]
KINDS = ("sqlite", "jsonl")


async def points(every: int) -> Part:
    """Go through every n-th step of each fault in each store."""
    part = Part("points")
    faults = [f"{fault}:{every}" for fault in get_args(Fault) if fault]
    tallies: list[Tally] = []
    for kind in KINDS:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.endurance.crash_points", kind, *faults),
            cwd=ROOT,
            stdout=PIPE,
            stderr=PIPE,
        )
        out, err = await process.communicate()
        try:
            found = msgspec.json.decode(out, type=dict[str, Tally])
        except msgspec.DecodeError:
            part.wrong.append(
                f"{kind} ended with {process.returncode}: {err[-500:].decode(errors='replace')}"
            )
            continue
        tallies += found.values()
        part.figures[f"{kind} steps"] = max(tally.steps for tally in found.values())
    part.figures |= {
        "tried": sum(tally.points for tally in tallies),
        "resumed": sum(tally.resumed for tally in tallies),
        "calls cut off": sum(tally.lost for tally in tallies),
        "errors told": sum(tally.told for tally in tallies),
    }
    part.wrong += [line for tally in tallies for line in tally.wrong]
    return part
