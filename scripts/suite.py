"""Run the tests in a separate process and read their outcomes, for scripts that run the whole suite."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

ROUND_S = 7200.0
"""More than any run of the suite takes, even on a busy machine."""
_GRACE_S = 60.0


class Failure(Struct, frozen=True):
    """A test that failed, and the first line of the reason."""

    test: str
    reason: str


class Outcome(Struct, frozen=True):
    """The outcome of one run of the suite."""

    passed: int
    skipped: int
    failures: tuple[Failure, ...]

    @property
    def total(self) -> int:
        """The number of tests."""
        return self.passed + self.skipped + len(self.failures)


class Place(Struct, frozen=True):
    """The folder, Python, environment and user of a run of the suite."""

    root: Path
    python: Path
    environ: Mapping[str, str]
    owner: tuple[int, int] | None = None
    """User and group; none means those of this process."""


def run_suite(place: Place, log: Path, arguments: Sequence[str]) -> Outcome:
    """Run pytest with these arguments; its output goes to `log`."""
    outcomes = place.root / "build" / "suite" / f"{log.stem}.jsonl"
    outcomes.parent.mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [str(place.python), "-m", "pytest", "-p", "scripts.suite_plugin", f"--outcomes={outcomes}"]
    user, group = place.owner or (None, None)
    if place.owner:
        os.chown(outcomes.parent, *place.owner)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=place.root,
            env=dict(place.environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user,
            group=group,
            extra_groups=None if group is None else [group],
        )
        end = _wait(process)
    return read_outcome(outcomes, end)


def read_outcome(path: Path, end: str) -> Outcome:
    """Read a file of outcomes; `end` says how the run ended, if not normally."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    failures = {
        row["test"]: Failure(row["test"], row["reason"]) for row in rows if row["outcome"] == "failed"
    }
    if end:
        failures[""] = Failure("(the whole run)", end)
    return Outcome(
        sum(row["outcome"] == "passed" and row["test"] not in failures for row in rows),
        sum(row["outcome"] == "skipped" for row in rows),
        tuple(failures.values()),
    )


def _wait(process: subprocess.Popen[bytes]) -> str:
    """Wait for pytest; return how it ended, or "" if it ended normally."""
    try:
        code = process.wait(ROUND_S)
    except subprocess.TimeoutExpired:
        return f"pytest did not end within {ROUND_S:.0f} s"
    except KeyboardInterrupt:  # Ctrl-C also reached pytest, which stops what its tests started
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
        raise
    finally:
        process.kill()
        process.wait()
    return "" if code in (0, 1) else f"pytest ended with {code}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows in columns."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    )
    return "\n".join(line.rstrip() for line in lines)
