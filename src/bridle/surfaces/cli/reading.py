"""Opening the store alone, for the commands that only read; it loads quickly."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bridle.app import open_store
from bridle.config.settings import load_settings
from bridle.core.ports import DatedStore
from bridle.core.summary import SessionSummary
from bridle.stores.lines import DamagedList
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


async def readable_sessions(store: DatedStore, console: Console) -> Sequence[SessionSummary]:
    """List all sessions; of a damaged store those that can be read, with a warning."""
    try:
        return await store.list(archived=True)
    except DamagedList as damage:
        console.warn(damage.message)
        console.hint(damage.hint)
        return damage.sessions
