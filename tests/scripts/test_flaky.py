"""Tests that fail sometimes are found with their seed, and helper processes end with the script."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from scripts.flaky import environment, make_seeds
from scripts.suite import Failure, read_outcome
from scripts.suite_plugin import shuffle

ROOT = Path(__file__).parents[2]
AFTER_ANOTHER = """
seen = []

def test_alone():
    assert not seen, "ran after another\\nand said more"

def test_first():
    seen.append(1)
"""
WAITS = """
def test_waits():
    with open("gate") as gate:
        gate.read()
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a folder for a small suite, with the plugin in reach."""
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\naddopts = -p xdist -p no:cacheprovider\n"
    )
    (tmp_path / "tests").mkdir()
    return tmp_path


@contextmanager
def flaky(suite: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run the script on a suite."""
    given = ["--root", str(suite), "--workers", "0", "--busy", "1", *arguments]
    process = subprocess.Popen(
        [sys.executable, "-m", "scripts.flaky", *given],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def wait(holds: Callable[[], bool]) -> None:
    """Wait until something holds; the limit of the test is the limit."""
    while not holds():
        time.sleep(0.01)  # nothing tells that another process has ended


def children(pid: int) -> set[int]:
    """Return the processes that a process has started."""
    try:
        return {int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    except FileNotFoundError:
        return set()


def runs(pid: int) -> bool:
    """Return whether a process is still there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_test_that_depends_on_the_order_is_listed_with_its_seed(suite: Path):
    (suite / "tests" / "test_order.py").write_text(AFTER_ANOTHER)
    tests = [f"tests/test_order.py::{name}" for name in ("test_alone", "test_first")]
    seed = next(seed for seed in range(100) if shuffle(tests, seed, str) != tests)

    with flaky(suite, "--seed", str(seed), "--workers", "2", "--", "--dist=loadfile") as process:
        said, _ = process.communicate()

    assert process.returncode == 1, said
    row = re.search(r"^(\S+) +1 +(\d+) +(.+)$", said, re.MULTILINE)
    assert row, said
    assert row.groups() == (tests[0], str(seed), "AssertionError: ran after another")
    assert "1 passed, 0 skipped, 1 failed" in said
    assert "and said more" in (suite / "build" / "flaky" / f"round-1-{seed}.log").read_text()


def test_the_order_of_a_seed_keeps_modules_together():
    tests = [f"tests/test_{module}.py::test_{number}" for module in "abc" for number in range(5)]

    orders = [shuffle(tests, seed, str) for seed in range(5)]

    assert all(sorted(order) == tests for order in orders)
    assert len({tuple(order) for order in orders}) == 5
    assert orders[3] == shuffle(tests, 3, str)
    for order in orders:
        modules = [test.partition("::")[0] for test in order]
        assert len([one for one, after in pairwise(modules) if one != after]) == 2


def test_rounds_without_a_failure_succeed_and_arguments_go_to_pytest(suite: Path):
    (suite / "tests" / "test_order.py").write_text(AFTER_ANOTHER)

    with flaky(suite, "--rounds", "2", "--", "-k", "first") as process:
        said, _ = process.communicate()

    assert process.returncode == 0, said
    assert said.count("1 passed, 0 skipped, 0 failed") == 2
    first, second = re.findall(r"seed (\d+), (\w+) environment", said)
    assert (int(first[0]) % 2, first[1]) == (1, "activated")
    assert (int(second[0]) % 2, second[1]) == (0, "plain")


def test_a_suite_that_cannot_be_loaded_fails(suite: Path):
    (suite / "tests" / "test_broken.py").write_text("import nothing_of_that_name\n")

    with flaky(suite, "--rounds", "1") as process:
        said, _ = process.communicate()

    assert process.returncode == 1
    assert "tests/test_broken.py" in said
    assert "(the whole run)" in said


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_work_beside_the_tests_ends_with_the_script(suite: Path, number: signal.Signals):
    (suite / "tests" / "test_waits.py").write_text(WAITS)
    gate = suite / "gate"
    os.mkfifo(gate)

    with flaky(suite, "--rounds", "1") as process:
        with gate.open("w"):  # opens once the test is running
            started = children(process.pid)
            assert len(started) == 2  # it and pytest
            process.send_signal(number)
            if number is not signal.SIGINT:  # which waits for pytest
                process.wait()
        process.wait()
        wait(lambda: not any(map(runs, started)))

    assert process.returncode in (-number, 130)


def test_an_environment_is_activated_for_odd_seeds_only():
    programs = str(Path(sys.executable).parent)
    given = {"PATH": f"{programs}:/usr/bin", "VIRTUAL_ENV": "/other", "HOME": "/home/x"}

    assert environment(2, given) == {"PATH": "/usr/bin", "HOME": "/home/x"}
    assert environment(3, given) == {
        "PATH": f"{programs}:/usr/bin",
        "VIRTUAL_ENV": sys.prefix,
        "HOME": "/home/x",
    }
    assert [seed % 2 for seed in make_seeds(5)] == [1, 0, 1, 0, 1]


def test_a_test_that_fails_twice_is_counted_once(tmp_path: Path):
    path = tmp_path / "outcomes.jsonl"
    path.write_text(
        '{"test": "a", "outcome": "passed", "reason": ""}\n'
        '{"test": "a", "outcome": "failed", "reason": "at its end"}\n'
        '{"test": "b", "outcome": "skipped", "reason": ""}\n'
    )

    outcome = read_outcome(path, "")

    assert (outcome.passed, outcome.skipped, outcome.total) == (0, 1, 2)
    assert outcome.failures == (Failure("a", "at its end"),)
