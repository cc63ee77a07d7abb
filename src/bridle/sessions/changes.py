"""What the calls of a run change on disk: found when each of them ends, and recorded once."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from bridle.core.errors import BridleError
from bridle.core.ids import CallId
from bridle.core.ports import Keeper
from bridle.core.revision import FileChange
from bridle.core.turns import changed_files
from bridle.sessions.kit import Happening, RunKit

STOP_S = 1.0


class Left(Happening, frozen=True):
    """Calls that were cut off have changed something."""

    changes: tuple[FileChange, ...]


class Changes:
    """Asks the keeper of the session's files, and confirms what is recorded."""

    def __init__(self, kit: RunKit) -> None:
        self._kit = kit
        self._keeper = kit.setup.keeper
        self._recorded: set[FileChange] = set()
        """Changes that the keeper does not know to be recorded."""

    async def find(self) -> tuple[FileChange, ...]:
        """Return what has changed since anybody looked; raises BridleError."""
        return () if self._keeper is None else await self._collect(self._keeper)

    def record(self, changes: Sequence[FileChange], call_id: CallId | None = None) -> None:
        """Record what was changed on disk, each change once."""
        new = [change for change in changes if change not in self._recorded]
        if new and self._keeper is not None:
            self._recorded.update(new)
            self._kit.journal.stage(*changed_files(new, call_id))
            self._kit.later(self._confirm(self._keeper))

    async def find_left(self) -> None:
        """Tell what calls have changed that were cut off; what takes long to find comes with the next run."""
        if self._keeper is None or all(call.repeatable for call in self._kit.run.interrupted):
            return
        with suppress(BridleError, TimeoutError):
            async with asyncio.timeout(STOP_S):
                changes = await self._collect(self._keeper)
            self._kit.post(Left(changes))

    async def _collect(self, keeper: Keeper) -> tuple[FileChange, ...]:
        is_over = self._kit.engine.is_at_rest(self._kit.journal.id)
        return await asyncio.to_thread(keeper.collect, is_over=is_over)

    async def _confirm(self, keeper: Keeper) -> None:
        recorded = set(self._recorded)
        with suppress(BridleError):  # then they come again, and are known
            await asyncio.to_thread(keeper.confirm)
            self._recorded -= recorded
