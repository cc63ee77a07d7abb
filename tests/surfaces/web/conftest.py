"""The browser of the tests: one per worker, with a separate service and pages for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser

from tests.host_network import addresses_stay
from tests.surfaces.web.stage import Stage, chromium


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Yield the browser of this worker."""
    async with chromium() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def stage(browser: Browser, home: Path, env: dict[str, str], tmp_path: Path) -> AsyncIterator[Stage]:
    """Yield a service with a model that says hello, and pages that look at it."""
    stage = Stage(browser, home, env, tmp_path / "screenshots")
    stage.script({"text": "Hello."})
    with addresses_stay():
        await stage.start()
        try:
            yield stage
        finally:
            await stage.aclose()
