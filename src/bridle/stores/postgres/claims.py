"""Which worker holds a session: a column of the session's row, which every append checks."""

import asyncio
from collections.abc import Sequence

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.tenancy import tenant_of
from bridle.stores.postgres.notifications import CLAIMS
from bridle.stores.postgres.pool import Postgres
from bridle.stores.record_lines import check_id

AGAIN_S = 1.0  # between attempts to release a session

# A worker that lost the answer to its claim can claim again: the row already names it.
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
    """The claims of one worker; its name must belong to one process only, and never be reused."""

    def __init__(self, postgres: Postgres, worker: str) -> None:
        """Claim for `worker`; raises ValueError if it is empty, since an empty owner means unclaimed."""
        if not worker:
            raise ValueError("a worker has a name")
        self._postgres = postgres
        self._worker = worker
        self._held: set[SessionId] = set()
        self._loose: dict[SessionId, asyncio.Task[None]] = {}

    async def claim(self, session: SessionId) -> bool:
        """Claim a session for this worker; False if it is taken, here or elsewhere, or the worker is gone.

        Raises StoreError.
        """
        check_id(session)
        if session in self._held:
            return False
        self._held.add(session)
        try:
            taken = await self._postgres.rows(_CLAIM, self._params(session))
        except asyncio.CancelledError:  # the claim may have succeeded, and the caller cannot see it
            self._release_later(session)
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
        """Release a claim; does nothing for a session that is not held.

        Raises StoreError; the session is then released once the database is reachable again.
        """
        if session not in self._held or session in self._loose:
            return
        try:
            await self._drop(session)
        except (asyncio.CancelledError, StoreError):
            self._release_later(session)
            raise

    def held(self) -> frozenset[SessionId]:
        """Return the sessions that this worker holds or is claiming."""
        return frozenset(self._held)

    async def holder(self, session: SessionId) -> str:
        """Return the worker that holds a session; empty if it is free."""
        return (await self.holders([session])).get(session, "")

    async def is_taken(self, session: SessionId) -> bool:
        """Return True if this or another worker holds the session."""
        return session in self._held or bool(await self.holder(session))

    async def holders(self, sessions: Sequence[SessionId]) -> dict[SessionId, str]:
        """Return the worker of each session that is held; free sessions are left out."""
        rows = await self._postgres.rows(_HOLDERS, (list(sessions),))
        return {SessionId(session): str(owner) for session, owner in rows}

    async def clear(self, worker: str) -> int:
        """Drop all claims of a worker that is gone, and return how many; its writes are refused from now on.

        Mark it as gone first: otherwise it may claim again.
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

    def _release_later(self, session: SessionId) -> None:
        """Release a session in the background: otherwise it would stay claimed for ever."""

        async def let_go() -> None:
            while session in self._held:
                try:
                    await self._drop(session)
                except StoreError:
                    await asyncio.sleep(AGAIN_S)

        self._loose[session] = task = asyncio.create_task(let_go())
        task.add_done_callback(lambda _: self._loose.pop(session, None))
