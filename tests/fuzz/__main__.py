"""Hunt for inputs that break a parser: `python -m tests.fuzz --seconds 60 [--target X] [--seed N]`."""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.hunting import CORPUS, corpus_of, distilled, hunt, keep
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Hunt in each target for its part of the time; 1 when something broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="only this one")
    parser.add_argument("--seed", type=int, default=None, help="makes the same inputs again")
    parser.add_argument("--crashes", type=Path, default=Path(".cache/fuzz"), help="where findings are kept")
    parser.add_argument("--distil", action="store_true", help="drop inputs that find nothing of their own")
    args = parser.parse_args()
    names = args.target or sorted(TARGETS)
    if args.distil:
        for name in names:
            _distil(name)
        return 0
    seed = int(time.time()) if args.seed is None else args.seed
    print(f"seed {seed}, {len(names)} targets, {args.seconds:.0f} s")
    tried = crashes = 0
    for name in names:
        target = TARGETS[name]
        report = hunt(target, seconds=args.seconds / len(names), seed=seed)
        tried += report.tried
        crashes += len(report.crashes)
        print(
            f"{name:16} {report.tried:8,} inputs {report.edges:6,} edges {report.found:4} new "
            f"{report.slowest_s * 1000:7.0f} ms slowest {len(report.crashes):3} crashes",
            flush=True,
        )
        for crash in report.crashes:
            file = keep(target, crash.data, args.crashes)
            print(f"  {crash}\n  kept as {file}", flush=True)
    print(f"{tried:,} inputs, {crashes} crashes")
    return 1 if crashes else 0


def _distil(name: str) -> None:
    target = TARGETS[name]
    files = sorted((CORPUS / name).glob("*"))
    kept = distilled(target, corpus_of(target))
    for file in files:
        if not file.name.startswith(("seed-", "found-")) and file.read_bytes() not in kept:
            file.unlink()
    print(f"{name:16} {len(files)} -> {len(list((CORPUS / name).glob('*')))}")


if __name__ == "__main__":
    sys.exit(main())
