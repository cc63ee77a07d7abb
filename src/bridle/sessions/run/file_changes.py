"""The file changes of a run's calls: collected when each call ends, and recorded once."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from bridle.core.errors import BridleError
from bridle.core.ids import CallId
from bridle.core.ports import FileTracker
from bridle.core.revision import FileChange
from bridle.core.turns import make_change_events
from bridle.sessions.run.context import EffectOutcome, RunContext

STOP_S = 1.0


class InterruptedChanges(EffectOutcome, frozen=True):
    """Interrupted calls have changed files."""

    changes: tuple[FileChange, ...]


class FileChanges:
    """Collects file changes from the session's `FileTracker`, and confirms the recorded ones to it."""

    def __init__(self, kit: RunContext) -> None:
        self._kit = kit
        self._keeper = kit.setup.keeper
        self._recorded: set[FileChange] = set()
        """Recorded changes that are not yet confirmed to the keeper."""

    async def find(self) -> tuple[FileChange, ...]:
        """Return the changes since the last collection; raises BridleError."""
        return () if self._keeper is None else await self._collect(self._keeper)

    def record(self, changes: Sequence[FileChange], call_id: CallId | None = None) -> None:
        """Record file changes, each one once."""
        new = [change for change in changes if change not in self._recorded]
        if new and self._keeper is not None:
            self._recorded.update(new)
            self._kit.journal.stage(*make_change_events(new, call_id))
            self._kit.later(self._confirm(self._keeper))

    async def find_left(self) -> None:
        """Post the changes of interrupted calls; those that take too long to find wait for the next run."""
        if self._keeper is None or all(call.repeatable for call in self._kit.run.interrupted):
            return
        with suppress(BridleError, TimeoutError):
            async with asyncio.timeout(STOP_S):
                changes = await self._collect(self._keeper)
            self._kit.post(InterruptedChanges(changes))

    async def _collect(self, keeper: FileTracker) -> tuple[FileChange, ...]:
        is_over = self._kit.engine.is_at_rest(self._kit.journal.id)
        return await asyncio.to_thread(keeper.collect, is_over=is_over)

    async def _confirm(self, keeper: FileTracker) -> None:
        recorded = set(self._recorded)
        with suppress(BridleError):  # the keeper then returns them again, and they are known as recorded
            await asyncio.to_thread(keeper.confirm)
            self._recorded -= recorded
