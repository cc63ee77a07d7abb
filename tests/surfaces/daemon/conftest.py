"""A daemon for the test's home, stopped after the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.daemon.process import DaemonProcess


@pytest.fixture
def daemon(home: Path, env: dict[str, str]) -> Iterator[DaemonProcess]:
    """Yield a daemon that is not started yet."""
    daemon = DaemonProcess(home, env)
    yield daemon
    daemon.close()
