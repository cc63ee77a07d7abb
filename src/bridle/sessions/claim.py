"""The claim on one session: only the process that holds it may run or change the session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridle.core.errors import SessionBusy
from bridle.core.ports import Claims
from bridle.sessions.journal import Journal


class Claim:
    """Takes and releases the claim, for a run or for another change to the session."""

    def __init__(self, claims: Claims, journal: Journal) -> None:
        self.starting = asyncio.Lock()  # invariant: one run or one change takes the claim at a time
        self.is_tended = False
        """True while the claim is held for a change that is not a run."""
        self._claims = claims
        self._journal = journal

    async def take(self) -> None:
        """Claim the session and read what others appended; raises SessionBusy if another process runs it."""
        if not await self._claims.claim(self._journal.id):
            raise SessionBusy(
                f"session {self._journal.id} is being run by another process", hint="wait for it to end"
            )
        try:
            await self._journal.catch_up()
        except BaseException:
            await self.release()
            raise

    async def release(self) -> None:
        """Give up the claim."""
        await self._claims.release(self._journal.id)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Hold the claim, with the journal up to date, for a change that is not a run."""
        await self.take()
        self.is_tended = True
        try:
            yield
        finally:
            self.is_tended = False
            await self.release()
