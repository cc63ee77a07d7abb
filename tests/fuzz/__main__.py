"""Find inputs that break a parser, and command lines that run without approval and change something.

`python -m tests.fuzz [--seconds 60] [--lines 200000] [--target X] [--seed N]`
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.hunting import distilled, hunt, inputs_of, keep, write_inputs
from tests.fuzz.lines import hunt as lines
from tests.fuzz.lines.ground import open_ground
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Give each target its share of the time, then try command lines; return 1 if something broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all parsers together")
    parser.add_argument("--lines", type=int, default=lines.LINES, help="how many command lines to make")
    parser.add_argument(
        "--target", action="append", choices=[*sorted(TARGETS), lines.NAME], help="only this target"
    )
    parser.add_argument("--seed", type=int, default=None, help="repeat the inputs of an earlier run")
    parser.add_argument("--crashes", type=Path, default=Path(".cache/fuzz"), help="folder for findings")
    parser.add_argument("--distil", action="store_true", help="drop inputs that reach no new code")
    args = parser.parse_args()
    wanted = args.target or [*sorted(TARGETS), lines.NAME]
    names = [name for name in wanted if name in TARGETS]
    if args.distil:
        for name in names:
            _distil(name)
        return 0
    seed = int(time.time()) if args.seed is None else args.seed
    broken = _hunt_parsers(names, args.seconds, seed, args.crashes) if names else False
    if lines.NAME in wanted:
        broken |= _hunt_lines(args.lines, seed, args.crashes)
    return 1 if broken else 0


def _hunt_parsers(names: list[str], seconds: float, seed: int, crashes_folder: Path) -> bool:
    print(f"seed {seed}, {len(names)} targets, {seconds:.0f} s")
    tried = crashes = 0
    for name in names:
        target = TARGETS[name]
        report = hunt(target, seconds=seconds / len(names), seed=seed)
        tried += report.tried
        crashes += len(report.crashes)
        print(
            f"{name:16} {report.tried:8,} inputs {report.edges:6,} edges {report.found:4} new "
            f"{report.slowest_s * 1000:7.0f} ms slowest {len(report.crashes):3} crashes",
            flush=True,
        )
        for crash in report.crashes:
            file = keep(target.name, crash.data, crashes_folder)
            print(f"  {crash}\n  kept in {file}", flush=True)
    print(f"{tried:,} inputs, {crashes} crashes")
    return crashes > 0


def _hunt_lines(count: int, seed: int, folder: Path) -> bool:
    """Judge `count` lines and run the allowed ones, in a folder that the sandbox shows."""
    print(f"seed {seed}, {count:,} command lines", flush=True)
    (folder / ".git").mkdir(parents=True, exist_ok=True)  # git must not look further up
    world = Path(tempfile.mkdtemp(prefix="world-", dir=folder)).resolve()
    try:
        with open_ground(world) as ground:
            configs = ground.folder.configs(random.Random(seed))
            report = lines.hunt(ground, lines.made_lines(seed, count), lines.judge_of(ground), configs)
    finally:
        shutil.rmtree(world, ignore_errors=True)
    for finding in report.findings:
        file = keep(lines.NAME, finding.line.encode(), folder)
        print(f"  {finding}\n    seed {seed}, kept in {file}")
    print(report)
    return not report.is_clean


def _distil(name: str) -> None:
    target = TARGETS[name]
    inputs = inputs_of(name)
    needed = set(distilled(target, [kept.data for kept in inputs]))
    left = [kept for kept in inputs if kept.seed or kept.data in needed]
    write_inputs(name, left)
    print(f"{name:16} {len(inputs)} -> {len(left)}")


if __name__ == "__main__":
    sys.exit(main())
