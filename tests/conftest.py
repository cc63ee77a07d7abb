"""Shared by all tests: repeatable examples, a clean environment and a private home."""

import gc
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.attacks.suites import suites_of
from tests.environment import take_own_environment

# Repeatable by default; `pytest --hypothesis-profile=explore` looks for new examples.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("ci")


# Before any test is imported: many read the environment while they are collected.
take_own_environment()

gc.disable()  # till all tests are collected: to look through them again and again takes a third of all time


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker of attacks known."""
    config.addinivalue_line("markers", "attack: attacks a promise of SECURITY.md, run by `make attack`")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the attacks, before tests are chosen by their markers."""
    for item in items:
        if suites_of(item.nodeid):
            item.add_marker("attack")


def pytest_collection_finish() -> None:
    """Let the collector of garbage look at what tests make, and not at the tests."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000)  # with the usual 700 a twentieth of all time went into it


@pytest.fixture
def plain_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a `HOME` without blanks, which a shell splits where `$HOME` is not quoted."""
    monkeypatch.setenv("HOME", "/home/user")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return an empty `BRIDLE_HOME`; a subprocess gets it through `env`."""
    path = tmp_path / "home" / ".bridle"
    path.mkdir(parents=True)
    return path


LANGUAGE_SERVERS = ("basedpyright", "clangd", "pyright", "ruff")


@cache
def plain_bin() -> Path:
    """Return the programs next to this interpreter, without language servers, which tests add if needed.

    They are in a separate environment that shares its packages with this one and, unlike /tmp, is visible in
    the sandbox.
    """
    environment = Path(sys.prefix)
    plain = environment / "plain"
    if not plain.is_dir():
        made = Path(tempfile.mkdtemp(prefix="plain-", dir=environment))
        (made / "bin").mkdir()
        for program in (environment / "bin").iterdir():
            if not program.name.startswith(LANGUAGE_SERVERS):
                (made / "bin" / program.name).symlink_to(program)
        (made / "lib").symlink_to(environment / "lib")
        shutil.copy(environment / "pyvenv.cfg", made / "pyvenv.cfg")
        made.chmod(0o755)
        with suppress(OSError):  # another process was quicker
            made.rename(plain)
    return plain / "bin"


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    """Give the whole environment of a subprocess: this interpreter first on PATH, no keys, no one's home."""
    return {
        "PATH": os.pathsep.join([str(plain_bin()), os.environ["PATH"]]),
        "HOME": str(home.parent),
        "BRIDLE_HOME": str(home),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
    }
