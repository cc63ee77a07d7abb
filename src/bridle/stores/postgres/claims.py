"""Which worker holds a session: a column of the session's row, which every append of a worker looks at."""

import asyncio
from collections.abc import Sequence

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.tenancy import tenant_of
from bridle.stores.lines import check_id
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.telling import CLAIMS

AGAIN_S = 1.0  # after a session could not be given back

# A claim whose answer was lost is found again by its owner, who knows what it holds.
_CLAIM = """
INSERT INTO bridle.sessions AS s (id, tenant, owner)
SELECT %(id)s, %(tenant)s, %(worker)s
WHERE NOT EXISTS (SELECT FROM bridle.workers WHERE id = %(worker)s AND gone)
ON CONFLICT (id) DO UPDATE SET owner = %(worker)s WHERE s.owner IN ('', %(worker)s)
RETURNING 1
"""
_RELEASE = """
WITH never_begun AS (DELETE FROM bridle.sessions WHERE id = %(id)s AND owner = %(worker)s AND seq = 0)
UPDATE bridle.sessions SET owner = '' WHERE id = %(id)s AND owner = %(worker)s AND seq > 0
"""
_CLEAR = """
WITH never_begun AS (DELETE FROM bridle.sessions WHERE owner = %(worker)s AND seq = 0 RETURNING id),
freed AS (UPDATE bridle.sessions SET owner = '' WHERE owner = %(worker)s AND seq > 0 RETURNING id)
SELECT id FROM never_begun UNION ALL SELECT id FROM freed
"""
_HOLDERS = "SELECT id, owner FROM bridle.sessions WHERE id = ANY(%s) AND owner <> ''"


class PostgresClaims:
    """The claims of one worker; its name must be that of one process only, and never be used again."""

    def __init__(self, postgres: Postgres, worker: str) -> None:
        """Claim in the name of a worker; raises ValueError for an empty name, which means nobody."""
        if not worker:
            raise ValueError("a worker has a name")
        self._postgres = postgres
        self._worker = worker
        self._held: set[SessionId] = set()
        self._loose: dict[SessionId, asyncio.Task[None]] = {}

    async def claim(self, session: SessionId) -> bool:
        """Take a session for this worker; False when it is taken, here or elsewhere, or the worker is gone.

        Raises StoreError.
        """
        check_id(session)
        if session in self._held:
            return False
        self._held.add(session)
        try:
            taken = await self._postgres.rows(_CLAIM, self._params(session))
        except asyncio.CancelledError:  # it may be ours by now, and nobody knows
            self._let_go_later(session)
            raise
        except BaseException:
            self._held.discard(session)
            raise
        if not taken:
            self._held.discard(session)
            return False
        self._postgres.tell(CLAIMS, session, self._worker)
        return True

    async def release(self, session: SessionId) -> None:
        """Give a claimed session back; one that is not held is left alone.

        Raises StoreError; then it is given back once the database is there again.
        """
        if session not in self._held or session in self._loose:
            return
        try:
            await self._drop(session)
        except (asyncio.CancelledError, StoreError):
            self._let_go_later(session)
            raise

    def held(self) -> frozenset[SessionId]:
        """Return the sessions that this worker holds, or is about to."""
        return frozenset(self._held)

    async def holder(self, session: SessionId) -> str:
        """Return the worker that holds a session; empty for nobody."""
        return (await self.holders([session])).get(session, "")

    async def is_taken(self, session: SessionId) -> bool:
        """Tell whether somebody has a session, this worker or another."""
        return session in self._held or bool(await self.holder(session))

    async def holders(self, sessions: Sequence[SessionId]) -> dict[SessionId, str]:
        """Return the workers that hold sessions; those that nobody holds are left out."""
        rows = await self._postgres.rows(_HOLDERS, (list(sessions),))
        return {SessionId(session): str(owner) for session, owner in rows}

    async def clear(self, worker: str) -> int:
        """Drop all claims of a worker that is gone, and return how many; its writes are refused from now on.

        Mark it as gone first: else it may claim again.
        """
        freed = await self._postgres.rows(_CLEAR, {"worker": worker})
        for (session,) in freed:
            self._postgres.tell(CLAIMS, session, "")
        return len(freed)

    def _params(self, session: SessionId) -> dict[str, str]:
        return {"id": session, "tenant": tenant_of(session), "worker": self._worker}

    async def _drop(self, session: SessionId) -> None:
        await self._postgres.rows(_RELEASE, self._params(session))
        self._held.discard(session)
        self._postgres.tell(CLAIMS, session, "")

    def _let_go_later(self, session: SessionId) -> None:
        """Give a session back without anybody waiting for it: held for ever, nobody could take it."""

        async def let_go() -> None:
            while session in self._held:
                try:
                    await self._drop(session)
                except StoreError:
                    await asyncio.sleep(AGAIN_S)

        self._loose[session] = task = asyncio.create_task(let_go())
        task.add_done_callback(lambda _: self._loose.pop(session, None))
