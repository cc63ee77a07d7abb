"""A process that runs a session of a shared database itself, without jobs, such as a CLI command.

It is registered as living while it holds a session, so its claims are dropped when it dies. No worker
continues its runs automatically: the user resumes them like any interrupted run. A process that slept too
long (a laptop) was declared gone and loses its run; it rejoins for the next one.
"""

import asyncio
from collections.abc import Sequence

from bridle.core.errors import SessionTaken
from bridle.core.ids import SessionId
from bridle.core.ports import Clock
from bridle.core.protocol import Event, Record
from bridle.scale.members import Members
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore


class GuestClaims:
    """Claims of a process that registers as a member with its first claim."""

    def __init__(self, claims: PostgresClaims, members: Members) -> None:
        self._claims = claims
        self._members = members
        self._joining = asyncio.Lock()  # so that it joins once
        self._living: asyncio.Task[None] | None = None

    async def claim(self, session: SessionId) -> bool:
        """Claim a session for this process; False if it is taken, here or elsewhere; raises StoreError."""
        async with self._joining:
            if self._living is None:
                await self._members.join()
                self._living = asyncio.create_task(self._members.run())
        if await self._claims.claim(session):
            return True
        holder = await self._claims.holder(session)
        is_free = holder not in ("", self._members.me.id) and await self._members.wait_for_end(holder)
        return (is_free or await self.rejoin_if_gone()) and await self._claims.claim(session)

    async def rejoin_if_gone(self) -> bool:
        """Rejoin if we were declared gone, for example after a sleep; return whether that was the case.

        Does nothing while a session is held, since that session is no longer ours. Raises StoreError.
        """
        async with self._joining:
            if self._living is None or not await self._members.is_gone(self._members.me.id):
                return False
            if self._claims.held():
                return False
            self._living.cancel()
            await asyncio.wait([self._living])
            await self._members.rejoin()
            self._living = asyncio.create_task(self._members.run())
            return True

    async def release(self, session: SessionId) -> None:
        """Release a claimed session; does nothing if it is not held."""
        await self._claims.release(session)

    async def is_taken(self, session: SessionId) -> bool:
        """Return whether a session is claimed, by this process or another."""
        return await self._claims.is_taken(session)

    async def leave(self) -> None:
        """Leave the cluster."""
        if self._living is not None:
            self._living.cancel()
            await asyncio.wait([self._living])
            await self._members.leave()


class GuestStore(PostgresStore):
    """The store of a guest process, which leaves the cluster when it is closed."""

    def __init__(self, postgres: Postgres, clock: Clock, claims: GuestClaims, worker: str) -> None:
        super().__init__(postgres, clock, worker)
        self._guest = claims
        self._connections = postgres

    async def append(
        self,
        session: SessionId,
        expected_seq: int,
        events: Sequence[Event],
        *,
        dates: Sequence[int] = (),
    ) -> list[Record]:
        """Append events; to create a session, rejoin first if we were declared gone during a sleep."""
        try:
            return await super().append(session, expected_seq, events, dates=dates)
        except SessionTaken:
            if expected_seq or not await self._guest.rejoin_if_gone():
                raise
        return await super().append(session, expected_seq, events, dates=dates)

    async def aclose(self) -> None:
        """Leave the cluster and close the connections."""
        await self._guest.leave()
        await self._connections.aclose()
