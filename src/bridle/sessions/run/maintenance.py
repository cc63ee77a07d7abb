"""Changes to a session between runs, made while holding its claim: rewind, compaction, cleanup."""

import asyncio

from bridle.core.errors import UsageError
from bridle.core.protocol import Checkpoint, Push, Rewind
from bridle.core.recovery import INTERRUPTED, NOT_RUN, close_calls, make_run_end
from bridle.core.session import RunState
from bridle.sessions.children.orphans import keeper_of, record_late_changes
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.command_checks import add_messages
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.rewind import rewind
from bridle.sessions.run.compaction import CANCELLED, compact, failed, plan_compaction
from bridle.sessions.run.metered_calls import MeteredCalls
from bridle.sessions.setup import Setup


class Maintenance:
    """Rewinds and compacts a session, closes interrupted runs, and records late file changes."""

    def __init__(self, engine: Engine, journal: Journal, family: SubAgents) -> None:
        self._engine = engine
        self._family = family
        self._journal = journal

    async def close_interrupted(self, reason: str = "the process ended during the run") -> None:
        """End an interrupted run, if there is one, and its sub-agents."""
        if self._journal.session.run is not None:
            await self._family.end_orphans(self._journal)
            self.close(self._journal.session.run, reason)

    def close(self, run: RunState, reason: str) -> None:
        """End a run that is no longer driven, with a result for each of its calls."""
        self._journal.stage(*close_calls(run, begun=INTERRUPTED, not_begun=NOT_RUN))
        self._journal.stage(Checkpoint(self._journal.session.known))
        self._journal.stage(make_run_end(run, "failed", "", reason))

    async def record_late_changes(self) -> None:
        """Record file changes since the last call, by a background job or by a call that a crash cut off."""
        await record_late_changes(self._engine, self._journal)

    async def rewind(self, command: Rewind) -> None:
        """Rewind the conversation, the files or both."""
        await self.close_interrupted()
        await self.record_late_changes()
        engine, journal = self._engine, self._journal
        keeper, is_over = keeper_of(engine, journal), engine.is_at_rest(journal.id)
        done = await rewind(journal.id, command, engine.store, keeper, is_over=is_over)
        await journal.record(*done)
        if keeper is not None:
            await asyncio.to_thread(keeper.confirm)
        await journal.reload()

    async def push(self, command: Push) -> None:
        """Add messages of a client; raises UsageError for none, and for what no request could send."""
        added = add_messages(command.messages, is_first=not self._journal.session.messages)
        if not added:
            raise UsageError("there is no message to add")
        await self.close_interrupted()
        await self._journal.record(*added)

    async def compact(self, setup: Setup, keep: str) -> None:
        """Compact the conversation; raises UsageError if that would change nothing."""
        await self.close_interrupted()
        await self._journal.flush()
        engine, session, backend = self._engine, self._journal.session, setup.backend
        policy = engine.settings.compaction
        started = plan_compaction(session, backend, policy, trigger="manual", turn=0, last_turn=-1)
        if started is None:
            raise UsageError(f"session {self._journal.id} has nothing to compact")
        await self._journal.record_whole(started)
        bill = MeteredCalls()
        try:
            done = await compact(engine, setup, backend, session, trigger="manual", bill=bill, keep=keep)
        except asyncio.CancelledError:
            await self._journal.record_whole(failed(bill, CANCELLED))
            raise
        await self._journal.record_whole(*done)
