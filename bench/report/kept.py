"""Runs that are kept: what was found, on which kind of machine, when, and how busy it was.

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
    """What a run was made on."""

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
    """What one bench has found."""

    at: str
    """The day and time in UTC."""
    bridle: str
    took_s: float
    load: tuple[float, float]
    """How many processes wanted a core, over a minute, before and after."""
    how: str
    """What the bench says about itself."""
    lines: list[Line]
    quick: bool = False
    changes: list[Change] = []
    """Since the recorded run before."""


class Results(msgspec.Struct, frozen=True):
    """A whole run; benches that were run alone later have replaced their part."""

    machine: Machine
    modules: dict[str, Measured]

    @property
    def lines(self) -> list[Line]:
        """Return all rows and curves."""
        return [line for found in self.modules.values() for line in found.lines]


def this_machine() -> Machine:
    """Look at the machine that we are on."""
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
    """Return the version of what is measured."""
    return version("bridle-agent")


def now() -> str:
    """Return the time as it is written down."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


def load_results(path: Path) -> Results | None:
    """Read a kept run; None when there is none."""
    if not path.exists():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Results)


def save_results(path: Path, results: Results) -> None:
    """Write a run so that people can read what has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def recorded(machine: Machine, folder: Path = RESULTS) -> Results | None:
    """Return the recorded run of a kind of machine."""
    return load_results(folder / f"{machine.kind}.json")


def record(results: Results, folder: Path = RESULTS) -> None:
    """Replace the recorded run; benches that were not run keep what they had, those that are gone do not."""
    before = recorded(results.machine, folder)
    found = (before.modules if before else {}) | results.modules
    modules = {name: found[name] for name in MODULES if name in found}
    save_results(folder / f"{results.machine.kind}.json", Results(results.machine, modules))


def newest(folder: Path = RESULTS) -> Results | None:
    """Return the recorded run that was made last, on whichever machine: the page is about it."""
    found = [load_results(path) for path in sorted(folder.glob("*.json")) if path.name != LATEST]
    runs = [one for one in found if one is not None and one.modules]
    return max(runs, key=lambda run: max(one.at for one in run.modules.values()), default=None)
