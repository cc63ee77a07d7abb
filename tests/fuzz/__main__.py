"""Hunt for inputs that break a parser, and for command lines that run unasked and do something.

`python -m tests.fuzz [--seconds 60] [--lines 200000] [--target X] [--seed N]`
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.hunting import CORPUS, corpus_of, distilled, hunt, keep
from tests.fuzz.lines import hunt as lines
from tests.fuzz.lines.ground import open_ground
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Hunt in each target for its part of the time, then with command lines; 1 when something broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all parsers together")
    parser.add_argument("--lines", type=int, default=lines.LINES, help="how many command lines are made")
    parser.add_argument(
        "--target", action="append", choices=[*sorted(TARGETS), lines.NAME], help="only this one"
    )
    parser.add_argument("--seed", type=int, default=None, help="makes the same inputs again")
    parser.add_argument("--crashes", type=Path, default=Path(".cache/fuzz"), help="where findings are kept")
    parser.add_argument("--distil", action="store_true", help="drop inputs that find nothing of their own")
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
            print(f"  {crash}\n  kept as {file}", flush=True)
    print(f"{tried:,} inputs, {crashes} crashes")
    return crashes > 0


def _hunt_lines(count: int, seed: int, folder: Path) -> bool:
    """Judge so many lines and run the allowed ones, in a folder that lies where a cell would show it."""
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
        print(f"  {finding}\n    seed {seed}, kept as {file}")
    print(report)
    return not report.is_clean


def _distil(name: str) -> None:
    target = TARGETS[name]
    files = sorted((CORPUS / name).glob("*"))
    kept = distilled(target, corpus_of(target.name))
    for file in files:
        if not file.name.startswith(("seed-", "found-")) and file.read_bytes() not in kept:
            file.unlink()
    print(f"{name:16} {len(files)} -> {len(list((CORPUS / name).glob('*')))}")


if __name__ == "__main__":
    sys.exit(main())
