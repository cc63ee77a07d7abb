"""File changes that no call has recorded: by a background job, or by an interrupted call."""

import asyncio

from bridle.core.ports import FileTracker
from bridle.core.turns import make_change_events
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal


def keeper_of(engine: Engine, journal: Journal) -> FileTracker | None:
    """Return the `FileTracker` of a session's files; None without revisions."""
    if engine.revisions is None:
        return None
    return engine.revisions.keeper(journal.id, journal.session.known.created.cwd)


async def record_late_changes(engine: Engine, journal: Journal) -> None:
    """Record a session's file changes since its last call, while no run is active; raises StoreError."""
    keeper = keeper_of(engine, journal)
    if keeper is None:
        return
    known = journal.session.changes  # recorded, but perhaps not confirmed before a crash
    is_over = engine.is_at_rest(journal.id)
    found = await asyncio.to_thread(keeper.collect, is_over=is_over)
    await journal.record(*make_change_events([change for change in found if change not in known]))
    await asyncio.to_thread(keeper.confirm)
