"""Open only the store, for commands that read; faster than opening the whole service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bridle.app import open_store
from bridle.config.settings import load_settings
from bridle.core.ports import DatedStore
from bridle.core.summary import SessionSummary
from bridle.stores.record_lines import DamagedList
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.shared.terminal import Console


@asynccontextmanager
async def open_configured_store(console: Console, cwd: str | None = None) -> AsyncIterator[DatedStore]:
    """Open the configured store, and close it at the end of the context."""
    store = open_store(load_settings(console.environ, Path(cwd or resolve_directory())))
    try:
        yield store
    finally:
        await store.aclose()


async def list_readable_sessions(store: DatedStore, console: Console) -> Sequence[SessionSummary]:
    """List all sessions; for a damaged store, warn and list the readable ones."""
    try:
        return await store.list(archived=True)
    except DamagedList as damage:
        console.warn(damage.message)
        console.hint(damage.hint)
        return damage.sessions
