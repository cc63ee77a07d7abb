"""The environment of tests does not depend on the shell that starts them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import own_environment

ROOT = Path(__file__).parents[1]
ODD = {
    "PATH": "/nowhere:/odd/bin",
    "VIRTUAL_ENV": "/odd",
    "OPENAI_API_KEY": "sk-x",
    "HTTP_PROXY": "http://127.0.0.1:1",
    "LANG": "C",
    "TZ": "Asia/Kolkata",
    "COLUMNS": "40",
    "FORCE_COLOR": "1",
    "GIT_DIR": "/odd",
    "BRIDLE_HOME": "/odd",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def test_nothing_of_an_odd_shell_is_left():
    plain = own_environment({"HOME": "/home/x", "PATH": "/usr/bin"})

    assert own_environment({"HOME": "/home/x", **ODD}) == plain


def test_what_chooses_tests_and_where_packages_come_from_is_kept():
    kept = {"BRIDLE_CONFORMANCE": "all", "PIP_CERT": "/x.pem", "TMPDIR": "/somewhere", "CI": "1"}

    assert own_environment(kept).items() >= kept.items()


@pytest.mark.parametrize("more", [{}, ODD])
def test_a_run_of_tests_needs_no_cache_and_nothing_of_its_shell(tmp_path: Path, more: dict[str, str]):
    """The attacks wanted the folder of pytest's cache once."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, "tests/attacks/test_ssrf.py", "-k", "hostile_answer", f"--basetemp={tmp_path / 'base'}"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **more},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-2000:]


def test_signals_that_are_ignored_around_the_run_reach_what_tests_start(tmp_path: Path):
    test = (
        "import signal\n\ndef test_it():\n    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN\n"
    )
    (tmp_path / "test_one.py").write_text(test)
    run = f"trap '' INT HUP; exec '{sys.executable}' -m pytest -q -n 1 -p tests.conftest '{tmp_path}'"
    done = subprocess.run(
        ["bash", "-c", run],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-2000:]
