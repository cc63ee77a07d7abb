"""A world and a stage for each attack."""

import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.attacks.door import Door
from tests.attacks.stage import Stage


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give an empty folder that is not below /tmp: what lies there is out of sight for other reasons."""
    cache = request.config.cache
    assert cache is not None
    path = Path(tempfile.mkdtemp(dir=cache.mkdir("attacks"))).resolve()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
async def stage(world: Path) -> AsyncIterator[Stage]:
    """Give a hostile model its tools."""
    made = Stage(world)
    yield made
    await made.close()


@pytest.fixture
def door() -> Iterator[Door]:
    """Give a server on the loopback address."""
    made = Door(socket.AF_INET, ("127.0.0.1", 0))
    yield made
    made.close()
