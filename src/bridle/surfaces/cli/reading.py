"""Opening the store alone, for the commands that only read; it loads quickly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bridle.app import open_store
from bridle.config.settings import load_settings
from bridle.core.ports import DatedStore
from bridle.surfaces.cli.find import working_directory
from bridle.surfaces.terminal import Console


@asynccontextmanager
async def reading(console: Console, cwd: str | None = None) -> AsyncIterator[DatedStore]:
    """Open the store that is configured, and close it afterwards."""
    store = open_store(load_settings(console.environ, Path(cwd or working_directory())))
    try:
        yield store
    finally:
        await store.aclose()
