"""A pytest plugin for scripts that run the whole suite: tests in random order, outcomes in a file.

```
pytest -p scripts.suite_plugin --shuffle 1234 --outcomes build/outcomes.jsonl
```

It shuffles the modules, then the tests inside each module, so that fixtures of a module are still made once.
The same seed gives the same order in every worker process.
"""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("suite")
    group.addoption(
        "--shuffle", type=int, metavar="SEED", help="run the tests in the random order of this seed"
    )
    group.addoption(
        "--outcomes", type=Path, metavar="FILE", help="write the outcome of each test to this file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Create an empty file; workers send their outcomes to the process that started them."""
    path = config.getoption("outcomes")
    if path is not None and not hasattr(config, "workerinput"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
        config.pluginmanager.register(Recorder(path))


@pytest.hookimpl(tryfirst=True)  # pytest groups the tests that share an expensive fixture afterwards
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests."""
    seed = config.getoption("shuffle")
    if seed is not None:
        items[:] = shuffle(items, seed, lambda item: item.nodeid)


def shuffle(items: Sequence[T], seed: int, name_of: Callable[[T], str]) -> list[T]:
    """Return the tests in the order of a seed; the tests of a module stay together."""
    modules: dict[str, list[T]] = {}
    for item in items:
        modules.setdefault(name_of(item).partition("::")[0], []).append(item)
    chance = random.Random(seed)
    names = sorted(modules)
    chance.shuffle(names)
    for name in names:
        chance.shuffle(modules[name])
    return [item for name in names for item in modules[name]]


class Recorder:
    """Writes one line for each test as soon as it ends."""

    def __init__(self, path: Path) -> None:
        """Write to this file."""
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a test, or a failure of its setup or teardown."""
        if report.when == "call" or not report.passed:
            self._write(report.nodeid, report.outcome, report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a module that cannot be imported."""
        if report.failed:
            self._write(report.nodeid, "failed", report)

    def _write(self, test: str, outcome: str, report: pytest.TestReport | pytest.CollectReport) -> None:
        line = {"test": test, "outcome": outcome, "reason": _reason(report) if report.failed else ""}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the first line of the failure."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    return next((line.strip() for line in text.splitlines() if line.strip()), "it failed without a message")
