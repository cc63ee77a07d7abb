"""Recorded runs: the results, the kind of machine, the time, and the load.

```
bench/results/<kind of machine>.json    the recorded run, which is committed; later runs are compared with it
bench/results/latest.json               the last run of this checkout
```

Nothing in them tells whose machine it was: no names of hosts, no paths.
"""

import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec
from rows import Line

from report.compare import Change
from report.groups import MODULES

RESULTS = Path(__file__).parents[1] / "results"
LATEST = "latest.json"


class Machine(msgspec.Struct, frozen=True):
    """The machine of a run."""

    cpu: str
    cores: int
    memory_gb: float
    system: str
    python: str

    @property
    def kind(self) -> str:
        """Return a name for all machines like this one."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.cpu} {self.cores} cores".lower()).strip("-")


class Measured(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of one bench."""

    at: str
    """The day and time in UTC."""
    bridle: str
    took_s: float
    load: tuple[float, float]
    """The load average over a minute, before and after."""
    how: str
    """The first paragraph of the bench's docstring."""
    lines: list[Line]
    quick: bool = False
    changes: list[Change] = []
    """Changes since the previous recorded run."""


class Results(msgspec.Struct, frozen=True):
    """A whole run; a bench that was run again alone has replaced its part."""

    machine: Machine
    modules: dict[str, Measured]

    @property
    def lines(self) -> list[Line]:
        """Return all rows and curves."""
        return [line for found in self.modules.values() for line in found.lines]


def this_machine() -> Machine:
    """Describe this machine."""
    names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    total_kb = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return Machine(
        cpu=names[0].strip() if names else platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        memory_gb=round(int(total_kb[1]) / 1e6, 1) if total_kb else 0.0,
        system=f"{platform.system()} {platform.release().partition('-')[0]}",
        python=platform.python_version(),
    )


def bridle_version() -> str:
    """Return the measured version of Bridle."""
    return version("bridle-agent")


def now() -> str:
    """Return the current time as stored in results."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def load_results(path: Path) -> Results | None:
    """Read a run; return None if there is none."""
    if not path.exists():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Results)


def save_results(path: Path, results: Results) -> None:
    """Write a run in a form whose diffs are readable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def recorded(machine: Machine, folder: Path = RESULTS) -> Results | None:
    """Return the recorded run of a kind of machine."""
    return load_results(folder / f"{machine.kind}.json")


def record(results: Results, folder: Path = RESULTS) -> None:
    """Replace the recorded run; keep earlier results of benches that did not run but still exist."""
    before = recorded(results.machine, folder)
    found = (before.modules if before else {}) | results.modules
    modules = {name: found[name] for name in MODULES if name in found}
    save_results(folder / f"{results.machine.kind}.json", Results(results.machine, modules))


def newest(folder: Path = RESULTS) -> Results | None:
    """Return the newest recorded run of any machine, which the page shows."""
    found = [load_results(path) for path in sorted(folder.glob("*.json")) if path.name != LATEST]
    runs = [one for one in found if one is not None and one.modules]
    return max(runs, key=lambda run: max(one.at for one in run.modules.values()), default=None)
