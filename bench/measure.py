"""How the benches measure: CPU seconds of child processes, interleaved, the best of several."""

import os
import resource
import subprocess
import sys


def child_cpu_s(argv: list[str], env: dict[str, str] | None = None, cwd: str | None = None) -> float:
    """Return the user and system time of one child process."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, env=clean | (env or {}), cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best_of(rounds: int, *commands: list[str], env: dict[str, str] | None = None) -> list[float]:
    """Time several commands in turn, so that noise meets them alike; return the least of each."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for slot, command in zip(times, commands, strict=True):
            slot.append(child_cpu_s(command, env))
    return [min(slot) for slot in times]


def report(rows: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Print one line per figure and hand the rows on."""
    for name, ratio, bar in rows:
        print(f"{name:<60} {ratio:6.2f}  bar {bar:5.2f}  {'ok' if ratio <= bar else 'OVER'}", flush=True)
    return rows


PYTHON = sys.executable
