"""Shared by the tests of tools: a working directory with a secret next to it."""

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bridle.core.ids import SessionId
from bridle.core.ports import ToolContext

Vectors = Callable[[str], list[dict[str, Any]]]
Swapping = Callable[[], AbstractContextManager[None]]

SWAPPER = """
    import ctypes
    at_cwd, exchange = -100, 2
    libc = ctypes.CDLL(None)
    print("swapping", flush=True)
    while not libc.renameat2(at_cwd, b"sub", at_cwd, b"lnk", exchange):
        pass
"""


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """Return an empty working directory."""
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder next to the working directory, with a file that no tool may touch."""
    path = tmp_path / "outside"
    path.mkdir()
    (path / "secret.txt").write_text("secret\n")
    return path


@pytest.fixture
def context(cwd: Path) -> ToolContext:
    return ToolContext(SessionId("s"), str(cwd), lambda _: None)


@pytest.fixture
def swapping(cwd: Path, outside: Path) -> Swapping:
    """Let another process turn `sub` into a link to the outside and back, as often as it can."""

    @contextmanager
    def swap() -> Iterator[None]:
        (cwd / "lnk").symlink_to(outside)
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SWAPPER)], cwd=cwd, stdout=subprocess.PIPE, text=True
        ) as swapper:
            assert swapper.stdout is not None
            assert swapper.stdout.readline() == "swapping\n"
            try:
                yield
                assert swapper.poll() is None
            finally:
                swapper.kill()

    return swap


@pytest.fixture(scope="session")
def vectors() -> Vectors:
    """Load recorded behaviour by name."""

    def load(name: str) -> list[dict[str, Any]]:
        return json.loads((Path(__file__).parent / "vectors" / f"kontekst-{name}.json").read_text())

    return load
