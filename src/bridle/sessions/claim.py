"""The claim on one session: whoever has it may run the session, or change it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridle.core.errors import SessionBusy
from bridle.core.ports import Claims
from bridle.sessions.journal import Journal


class Claim:
    """Taken for a run, or for something else that is done to the session."""

    def __init__(self, claims: Claims, journal: Journal) -> None:
        self.starting = asyncio.Lock()  # invariant: one run or one change at a time takes the claim
        self.is_tended = False
        """The session is held for something that is no run."""
        self._claims = claims
        self._journal = journal

    async def take(self) -> None:
        """Claim the session and bring it up to date; raises SessionBusy when another process runs it."""
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
        """Let others have the session."""
        await self._claims.release(self._journal.id)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Have the session to ourselves, and up to date, for something that is no run."""
        await self.take()
        self.is_tended = True
        try:
            yield
        finally:
            self.is_tended = False
            await self.release()
