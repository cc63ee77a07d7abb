"""Delete sessions that were archived long ago."""

from bridle.core.ids import SessionId
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.rows import Connection
from bridle.stores.postgres.store import remove

BATCH = 100

_OLD = """
SELECT id FROM bridle.sessions
WHERE archived AND tenant <> 'audit'
AND listed_at < %(before)s AND updated_at < %(before)s AND owner = '' AND id > %(after)s
ORDER BY id LIMIT %(batch)s
"""


async def prune_archived(postgres: Postgres, *, before_ms: int, tenant: str | None = None) -> int:
    """Delete archived, unclaimed sessions that were last changed before `before_ms`; return how many.

    Each deletion is a separate transaction, so that others never wait for long. Raises StoreError.
    """
    removed, after = 0, ""
    statement = _OLD if tenant is None else _OLD.replace("WHERE", "WHERE tenant = %(tenant)s AND", 1)
    while True:
        rows = await postgres.rows(
            statement, {"before": before_ms, "after": after, "batch": BATCH, "tenant": tenant}
        )
        for (session,) in rows:
            removed += await _remove_archived(postgres, session, before_ms)
        if len(rows) < BATCH:
            return removed
        after = rows[-1][0]


async def _remove_archived(postgres: Postgres, session: SessionId, before_ms: int) -> bool:
    async def work(connection: Connection) -> bool:
        return await remove(connection, session, before_ms=before_ms)

    return await postgres.retry(work)
