"""A world and a stage for each attack."""

import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.attacks.door import Door
from tests.attacks.stage import API_KEY, PASSWORD, Stage


@contextmanager
def new_world(config: pytest.Config) -> Iterator[Path]:
    """Make an empty folder that is not below /tmp: what lies there is out of sight for other reasons."""
    cache = config.cache
    assert cache is not None
    worlds = cache.mkdir("attacks")
    (worlds / ".git").mkdir(exist_ok=True)  # the cache is ignored by git: searches must not look that far up
    path = Path(tempfile.mkdtemp(dir=worlds)).resolve()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a place for an attack."""
    with new_world(request.config) as path:
        yield path


@pytest.fixture(scope="module")
def shared_world(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a place for all attacks of a module."""
    with new_world(request.config) as path:
        yield path


@pytest.fixture
async def stage(world: Path) -> AsyncIterator[Stage]:
    """Give a hostile model its tools."""
    made = Stage(world)
    yield made
    await made.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kernel_stage(shared_world: Path) -> AsyncIterator[Stage]:
    """Give one stage to all attacks of a module: its kernel is reset between cells."""
    made = Stage(shared_world, environ={"OPENAI_API_KEY": API_KEY, "MY_PASSWORD": PASSWORD})
    yield made
    await made.close()


@pytest.fixture
def door() -> Iterator[Door]:
    """Give a server on the loopback address."""
    made = Door(socket.AF_INET, ("127.0.0.1", 0))
    yield made
    made.close()
