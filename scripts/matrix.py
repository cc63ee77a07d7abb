"""Run the tests on each installed Python, as root and as an ordinary user: `python -m scripts.matrix`.

```
--python 3.13 --user ordinary     only these cells          --all     each Python with each user
--folder PATH                     where the clones are      -- tests/core -k name     arguments for pytest
```

Each Python gets a clone of the last commit with its own environment, in a folder whose name has a space.
A cell is one Python with one user. Without `--all`, each minor version of Python has one cell, alternately as
root and as the ordinary user, and the oldest version has both. The script creates the ordinary user and
removes it at the end. Only root can do that; other users test as themselves. Clones of 1.5 GB each are kept
for the next run; `make clean` removes them.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from scripts.interpreters import Interpreter, find_interpreters
from scripts.matrix_parts import Account, ordinary_account, own_account, prepare
from scripts.suite import Outcome, Place, run_suite, table

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "matrix" / "a b"
ORDINARY = "ordinary"


class Cell(Struct, frozen=True):
    """One run of the tests: a Python and a user."""

    python: Interpreter
    user: str


class Result(Struct, frozen=True):
    """The result of a cell; without an outcome, the cell could not be prepared, and `reason` says why."""

    cell: Cell
    seconds: float
    outcome: Outcome | None = None
    reason: str = ""

    @property
    def is_good(self) -> bool:
        """True if every test passed or was skipped."""
        return self.outcome is not None and not self.outcome.failures


def main() -> int:
    """Run the cells and print a table; return 1 if a cell failed."""
    args = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the account is removed
    users = ("root", ORDINARY) if os.geteuid() == 0 else (own_account().name,)
    found = find_interpreters()
    chosen = [
        cell
        for cell in (
            every_cell(found, users) if args.all or args.python or args.user else some_cells(found, users)
        )
        if is_wanted(cell, args.python, args.user)
    ]
    if not chosen:
        print(
            "error: no cell matches\nhint: " + ", ".join(f"--python {one.version}" for one in found),
            file=sys.stderr,
        )
        return 64
    if subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT, check=False).returncode:
        print("note: this tests the last commit, without later changes", flush=True)
    results = run_cells(chosen, args)
    print(report(results, is_alone=len(users) == 1))
    return 0 if all(result.is_good for result in results) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="matrix", description="run the tests on each Python and as each user"
    )
    parser.add_argument("--python", action="append", default=[], help="a version such as 3.13 or 3.11.7")
    parser.add_argument("--user", action="append", default=[], help="root or ordinary")
    parser.add_argument("--all", action="store_true", help="each Python with each user")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder for the clones")
    parser.add_argument("--workers", default="4", help="number of test processes (default 4)")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    return parser


def every_cell(found: Sequence[Interpreter], users: Sequence[str]) -> list[Cell]:
    """Return each Python with each user."""
    return [Cell(python, user) for python in found for user in users]


def some_cells(found: Sequence[Interpreter], users: Sequence[str]) -> list[Cell]:
    """Return each minor version of Python once, with alternating users, and the oldest with each user."""
    minors = [
        python for number, python in enumerate(found) if _minor(python) not in map(_minor, found[:number])
    ]
    rest = [Cell(python, users[number % len(users)]) for number, python in enumerate(minors[1:])]
    return [*every_cell(minors[:1], users), *rest]


def _minor(python: Interpreter) -> tuple[int, ...]:
    return python.numbers[:2]


def is_wanted(cell: Cell, versions: Sequence[str], users: Sequence[str]) -> bool:
    """Return whether a cell matches the options; without options every cell does."""
    version = cell.python.version
    fits = not versions or any(version == one or version.startswith(f"{one}.") for one in versions)
    return fits and (not users or cell.user in users)


def run_cells(cells: Sequence[Cell], args: argparse.Namespace) -> list[Result]:
    """Run the tests in each cell, one after the other."""
    results: list[Result] = []
    with ordinary_account(needed=any(cell.user == ORDINARY for cell in cells)) as ordinary:
        for cell in cells:
            account = ordinary if cell.user == ORDINARY and ordinary else own_account()
            print(f"Python {cell.python.version}, {cell.user}", flush=True)
            results.append(run_cell(cell, account, args))
            print(f"  {_in_words(results[-1])}", flush=True)
    return results


def run_cell(cell: Cell, account: Account, args: argparse.Namespace) -> Result:
    """Prepare the clone of a cell and run the tests in it."""
    start = time.monotonic()
    try:
        clone, environ = prepare(ROOT, args.folder, cell.python, account)
    except (OSError, subprocess.CalledProcessError) as error:
        return Result(cell, time.monotonic() - start, reason=str(error))
    place = Place(clone, clone / ".venv" / "bin" / "python", environ, account.ids)
    log = args.folder.parent / f"{cell.python.version}-{cell.user}.log"
    start = time.monotonic()
    outcome = run_suite(place, log, ("-n", args.workers, *args.pytest))
    return Result(cell, time.monotonic() - start, outcome)


def report(results: Sequence[Result], *, is_alone: bool) -> str:
    """Return the table of all cells and the failed tests."""
    rows = [
        (
            result.cell.python.version,
            result.cell.user,
            "passed" if result.is_good else "failed" if result.outcome else "not run",
            str(result.outcome.total) if result.outcome else "-",
            f"{result.seconds // 60:.0f}:{result.seconds % 60:02.0f}",
        )
        for result in results
    ]
    parts = [table(("Python", "user", "result", "tests", "time"), rows)]
    parts += [f"not root: only {results[0].cell.user} was tested"] if is_alone else []
    parts += [f"{result.cell.python.version} {result.cell.user}: {_in_words(result)}" for result in results]
    return "\n".join(parts)


def _in_words(result: Result) -> str:
    if result.outcome is None:
        return f"not run: {result.reason}"
    failures = "".join(f"\n  {one.test}  {one.reason}" for one in result.outcome.failures)
    return f"{result.outcome.passed} passed, {result.outcome.skipped} skipped" + failures


if __name__ == "__main__":
    sys.exit(main())
