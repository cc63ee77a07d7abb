"""What is done to a session while no run is active in it, by whoever holds its claim."""

import asyncio

from bridle.core.errors import UsageError
from bridle.core.protocol import Checkpoint, Rewind
from bridle.core.recovery import INTERRUPTED, NOT_RUN, close_calls, end_of
from bridle.core.session import RunState
from bridle.sessions.bill import Bill
from bridle.sessions.children import Family
from bridle.sessions.compaction import CANCELLED, compact, due, failed
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.late_changes import keeper_of, record_late_changes
from bridle.sessions.rewind import rewind
from bridle.sessions.setup import Setup


class Upkeep:
    """Goes back, compacts, and records what nobody else has recorded."""

    def __init__(self, engine: Engine, journal: Journal, family: Family) -> None:
        self._engine = engine
        self._family = family
        self._journal = journal

    async def close_cut_off(self, reason: str = "the process ended during the run") -> None:
        """End a run that its process did not, if there is one, and the sub-agents it had."""
        if self._journal.session.run is not None:
            await self._family.end_orphans(self._journal)
            self.close(self._journal.session.run, reason)

    def close(self, run: RunState, reason: str) -> None:
        """End a run that nobody drives any more, with a result for each of its calls."""
        self._journal.stage(*close_calls(run, begun=INTERRUPTED, not_begun=NOT_RUN))
        self._journal.stage(Checkpoint(self._journal.session.known))
        self._journal.stage(end_of(run, "failed", "", reason))

    async def record_late_changes(self) -> None:
        """Record what a background job has changed since the last call, or a call that a crash cut off."""
        await record_late_changes(self._engine, self._journal)

    async def rewind(self, command: Rewind) -> None:
        """Go back to how things were."""
        await self.close_cut_off()
        await self.record_late_changes()
        engine, journal = self._engine, self._journal
        keeper, is_over = keeper_of(engine, journal), engine.is_at_rest(journal.id)
        done = await rewind(journal.id, command, engine.store, keeper, is_over=is_over)
        await journal.record(*done)
        if keeper is not None:
            await asyncio.to_thread(keeper.confirm)
        await journal.reload()

    async def compact(self, setup: Setup, keep: str) -> None:
        """Put a summary in the place of what was said; raises UsageError when that would change nothing."""
        await self.close_cut_off()
        await self._journal.flush()
        engine, session, backend = self._engine, self._journal.session, setup.backend
        started = due(session, backend, engine.compaction, trigger="manual", turn=0, last_turn=-1)
        if started is None:
            raise UsageError(f"session {self._journal.id} has nothing to compact yet")
        await self._journal.record_whole(started)
        bill = Bill()
        try:
            done = await compact(engine, setup, backend, session, trigger="manual", bill=bill, keep=keep)
        except asyncio.CancelledError:
            await self._journal.record_whole(failed(bill, CANCELLED))
            raise
        await self._journal.record_whole(*done)
