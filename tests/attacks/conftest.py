"""A small world and all tools for each attack."""

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.attacks.door import Door
from tests.attacks.stage import API_KEY, PASSWORD, Stage
from tests.environment import folder_outside_tmp


@pytest.fixture
def world() -> Iterator[Path]:
    """Yield a place for an attack."""
    with folder_outside_tmp("attacks") as path:
        yield path


@pytest.fixture(scope="module")
def shared_world() -> Iterator[Path]:
    """Yield a place for all attacks of a module."""
    with folder_outside_tmp("attacks") as path:
        yield path


@pytest.fixture
async def stage(world: Path) -> AsyncIterator[Stage]:
    """Return the tools of a hostile model."""
    made = Stage(world)
    yield made
    await made.close()


@pytest.fixture(scope="module")
def judge_stage() -> Iterator[Stage]:
    """Yield one stage for all decisions of a module: nothing runs."""
    with folder_outside_tmp("attacks") as path:
        yield Stage(path)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kernel_stage(shared_world: Path) -> AsyncIterator[Stage]:
    """Yield one stage for all attacks of a module; its kernel is reset between cells."""
    made = Stage(shared_world, environ={"OPENAI_API_KEY": API_KEY, "MY_PASSWORD": PASSWORD})
    yield made
    await made.close()


@pytest.fixture
def door() -> Iterator[Door]:
    """Yield a server on the loopback address."""
    made = Door(socket.AF_INET, ("127.0.0.1", 0))
    yield made
    made.close()
