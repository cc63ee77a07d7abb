"""Run the benches of this folder, compare them with the last recorded run, and write docs/benchmarks.md.

```
python bench/run.py                    all benches: prints every row, writes bench/results/latest.json
python bench/run.py turns deltas       only these
python bench/run.py --quick            a third of the rounds
python bench/run.py --record           also replaces the recorded run of this kind of machine, and the page
python bench/run.py --report-only      measures nothing: writes the page from the recorded run
```

Every bench runs in a separate process, which may take an hour. The exit code is 1 if a result is over its bar
or a bench fails. On their first run, `peers` and `kernel` install other programs from a package index.
"""

import argparse
import ast
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import msgspec
from measure import PYTHON, QUICK, told
from report.compare import Change, changes
from report.groups import MODULES
from report.kept import (
    LATEST,
    RESULTS,
    Measured,
    Results,
    bridle_version,
    newest,
    now,
    record,
    recorded,
    save_results,
    this_machine,
)
from report.page import PAGE, explanations, render, weak, write_page
from rows import Line

FOLDER = Path(__file__).parent
MAX_BENCH_S = 3600


def main(argv: list[str]) -> int:
    """Run the command; return the exit code."""
    args = _arguments(argv)
    if args.report_only:
        return _write_page()
    results, failed = measure_all(args.modules or list(MODULES), is_quick=args.quick)
    over = [line for line in results.lines if not line.holds]
    for line in over:
        print(f"over its bar: {line.what}: {told(line)}")
    for name in failed:
        print(f"failed: {name}")
    for found in results.modules.values():
        for change in found.changes:
            print(f"{'REGRESSION' if change.worse else 'improvement'}: {change}")
    if recorded(results.machine) is None and not args.record:
        print("no recorded run for this kind of machine (hint: --record)")
    if args.record and results.modules:
        record(results)
        _write_page()
    if not over and not failed:
        print("all bars hold")
    return 1 if over or failed else 0


def measure_all(names: list[str], *, is_quick: bool) -> tuple[Results, list[str]]:
    """Run benches one after the other; return their results, and the names of those that failed."""
    machine = this_machine()
    before = recorded(machine)
    results, failed = Results(machine, {}), []
    for name in names:
        print(f"== {name}", flush=True)
        known = before.modules[name].lines if before and name in before.modules else []
        found = measure_one(name, known, is_quick=is_quick)
        if found is None:
            failed.append(name)
            continue
        results.modules[name] = found
        save_results(RESULTS / LATEST, results)  # so that an interrupted run keeps its results
    return results, failed


def measure_one(name: str, known: list[Line], *, is_quick: bool) -> Measured | None:
    """Run one bench in a separate process; return None if it fails."""
    env = dict(os.environ) | ({QUICK: "1"} if is_quick else {})
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    load, began = os.getloadavg()[0], time.monotonic()
    with tempfile.NamedTemporaryFile() as file:
        argv = [PYTHON, str(FOLDER / "measure.py"), name, file.name]
        if _run(argv, env):
            return None
        lines = msgspec.json.decode(Path(file.name).read_bytes(), type=list[Line])
    found: list[Change] = changes(known, lines)
    return Measured(
        at=now(),
        bridle=bridle_version(),
        took_s=round(time.monotonic() - began, 1),
        load=(round(load, 2), round(os.getloadavg()[0], 2)),
        how=_how(name),
        lines=lines,
        quick=is_quick,
        changes=found,
    )


def _run(argv: list[str], env: dict[str, str]) -> int:
    """Run a program for a limited time; kill everything it started afterwards."""
    with subprocess.Popen(argv, env=env, cwd=FOLDER.parent, start_new_session=True) as child:
        try:
            return child.wait(MAX_BENCH_S)
        except subprocess.TimeoutExpired:
            return 1
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _how(name: str) -> str:
    """Return the first paragraph of a bench's docstring."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return " ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())


def _write_page() -> int:
    results = newest()
    if results is None:
        print("there is no recorded run (hint: --record)", file=sys.stderr)
        return 1
    explained = explanations()
    write_page(render(results, explained))
    print(f"wrote {PAGE}")
    for line in weak(results):
        if line.id not in explained:
            print(f'bench/explained.toml has no entry for "{line.id}" ({line.what})')
    return 0


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure, compare with the last recorded run, report.")
    parser.add_argument("modules", nargs="*", choices=[*MODULES, []], metavar="bench", help="default: all")
    parser.add_argument("--quick", action="store_true", help="a third of the rounds")
    parser.add_argument("--record", action="store_true", help="replace the recorded run and write the page")
    parser.add_argument("--report-only", action="store_true", help="write the page, measure nothing")
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
