"""Measuring and printing for the benches: several rounds, in turn, so that noise affects all equally.

`python measure.py MODULE FILE` runs one bench and writes its results to a file, for `run.py`.
"""

import importlib
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rows import Curve, Line, number

PYTHON = sys.executable
QUICK = "BRIDLE_BENCH_QUICK"
QUICK_SHARE = 3


def rounds(usual: int) -> int:
    """Return how often to repeat a measurement: fewer times in a quick run."""
    return max(2, usual // QUICK_SHARE) if os.environ.get(QUICK) else usual


def child_cpu_s(argv: list[str], env: dict[str, str] | None = None, cwd: str | None = None) -> float:
    """Return the user and system time of one child process."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, env=clean | (env or {}), cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turns(times: int, *commands: list[str], env: dict[str, str] | None = None) -> list[list[float]]:
    """Run several commands in turn, so that noise affects all equally; return the CPU seconds of each."""
    found: list[list[float]] = [[] for _ in commands]
    for _ in range(times):
        for slot, command in zip(found, commands, strict=True):
            slot.append(child_cpu_s(command, env))
    return found


def report(lines: Sequence[Line]) -> list[Line]:
    """Print every row and curve, and return them."""
    for line in lines:
        print(f"{line.what:<66} {told(line)}", flush=True)
    return list(lines)


def told(line: Line) -> str:
    """Return a short text with the result, and whether it is within its bar."""
    end = "" if line.bar is None else f"  bar {number(line.bar)}  {'ok' if line.holds else 'OVER'}"
    if isinstance(line, Curve):
        return f"n^{line.score:.2f}{end}"
    if line.best is None:
        return f"{number(line.score)} {line.unit}{end}"
    mine, other = (number(one.value or 0.0) for one in (line.ours, line.best))
    beside = f"{mine} beside {other} {line.unit}: {line.best.who}"
    return f"{line.score:.2f} ±{line.spread:.0%}{end}  ({beside})"


def main(module: str, file: str) -> None:
    """Run one bench."""
    lines: list[Line] = importlib.import_module(module).main()
    Path(file).write_bytes(msgspec.json.encode(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
