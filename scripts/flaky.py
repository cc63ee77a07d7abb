"""Find tests that fail sometimes: `python -m scripts.flaky [--rounds N] [--seed S] [-- PYTEST ARGUMENTS]`.

```
for each round:  every test, in the random order of a seed, while other work keeps all processors busy
                 odd seed: in an activated environment     even seed: without one
after each one:  list every test that has failed so far, with its round, seed and first line of the reason
```

A test that failed once is listed, and the exit code is 1; nothing is retried. `--seed` repeats the order and
the environment of a round, but not which worker gets which test.
"""

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from scripts.suite import Failure, Place, run_suite, table

ROOT = Path(__file__).parents[1]
BUSY = """
import os, sys, threading

def watch():
    sys.stdin.buffer.read()  # ends when the script that started this process ends, in any way
    os._exit(0)

threading.Thread(target=watch, daemon=True).start()
while True:
    sum(range(10_000))
"""


class Found(Struct, frozen=True):
    """A failure and its round."""

    round: int
    seed: int
    failure: Failure


def main() -> int:
    """Run the rounds; return 1 if any test failed."""
    args = _parser().parse_args()
    seeds = [args.seed] * (args.rounds or 1) if args.seed is not None else make_seeds(args.rounds or 5)
    found: list[Found] = []
    try:
        with keep_busy(args.busy):
            for number, seed in enumerate(seeds, 1):
                print(f"round {number} of {len(seeds)}, seed {seed}, {environment_name(seed)}", flush=True)
                found += run_round(args, number, seed)
                print(report(found), flush=True)
    except KeyboardInterrupt:
        print(f"\nstopped\n{report(found)}")
        return 130
    return 1 if found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="flaky", description="find tests that fail sometimes")
    parser.add_argument("--rounds", type=int, help="how often to run the suite (default 5, or 1 with --seed)")
    parser.add_argument("--seed", type=int, help="repeat the round of this seed")
    parser.add_argument("--workers", default="4", help="number of test processes (default 4)")
    parser.add_argument(
        "--busy",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes that keep the processors busy",
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the suite")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    return parser


def make_seeds(rounds: int) -> list[int]:
    """Choose a seed for each round, alternately odd and even."""
    return [random.randrange(0, 1_000_000, 2) + number % 2 for number in range(1, rounds + 1)]


def run_round(args: argparse.Namespace, number: int, seed: int) -> list[Found]:
    """Run every test once, in the order that the seed gives."""
    place = Place(args.root, Path(sys.executable), environment(seed, os.environ))
    log = args.root / "build" / "flaky" / f"round-{number}-{seed}.log"
    arguments = ("-n", args.workers, "--shuffle", str(seed), *args.pytest)
    outcome = run_suite(place, log, arguments)
    print(f"  {outcome.passed} passed, {outcome.skipped} skipped, {len(outcome.failures)} failed: {log}")
    return [Found(number, seed, failure) for failure in outcome.failures]


def environment_name(seed: int) -> str:
    """Name the environment of a seed."""
    return "activated environment" if seed % 2 else "plain environment"


def environment(seed: int, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a round, with this Python's environment activated or not."""
    programs = str(Path(sys.executable).parent)
    plain = [place for place in environ.get("PATH", os.defpath).split(os.pathsep) if place != programs]
    rest = {name: value for name, value in environ.items() if name != "VIRTUAL_ENV"}
    if seed % 2:
        return {**rest, "VIRTUAL_ENV": sys.prefix, "PATH": os.pathsep.join([programs, *plain])}
    return {**rest, "PATH": os.pathsep.join(plain)}


def report(found: Sequence[Found]) -> str:
    """List every test that failed, by name."""
    if not found:
        return "  no test failed"
    rows = [
        (one.failure.test, str(one.round), str(one.seed), one.failure.reason)
        for one in sorted(found, key=lambda one: (one.failure.test, one.round))
    ]
    return table(("test", "round", "seed", "first line of the failure"), rows)


@contextmanager
def keep_busy(processes: int) -> Iterator[None]:
    """Keep the processors busy; the helper processes end with this one, however it ends."""
    command = [sys.executable, "-S", "-c", BUSY]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    sys.exit(main())
