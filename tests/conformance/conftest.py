"""The setup for scenarios."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.conformance.world import World, environment


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Yield one world for all plays of this process."""
    async with World(tmp_path_factory.mktemp("world"), environment()) as world:
        yield world
