"""Tenant budgets in PostgreSQL: any worker reserves before a run and settles after it.

```
reserve   lock the run ─▶ lock the rows of day and month ─▶ grant ─▶ add the amount, store the reservation
settle    lock the run ─▶ mark the reservation ─▶ add what was used less what was reserved
```

Both are safe to call twice: a reservation is identified by its session and run, and is settled once. Calls
for the same run wait for each other, so a caller that gives up a run also releases what a commit still in
progress reserves for it, for example one whose connection was lost.
"""

from collections.abc import Sequence

import msgspec

from bridle.core.budget import Limits, Spend
from bridle.core.codec import encode
from bridle.core.ids import RunId, SessionId
from bridle.core.tenancy import Tenant, tenant_of
from bridle.core.tenant_budget import Amount, Reservation, cut_limits, to_amount
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.rows import Connection, fetch_rows

_LOCK_RUN = "SELECT pg_advisory_xact_lock(hashtextextended(%s, hashtextextended(%s, 0)))"
_BUDGET = "SELECT settings FROM bridle.tenants WHERE name = %s"
_KNOWN = "SELECT limits FROM bridle.reservations WHERE session = %s AND run = %s"
_PERIODS = """
SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')
"""
_BEGIN = """
INSERT INTO bridle.tenant_use (tenant, period) VALUES (%(tenant)s, %(month)s), (%(tenant)s, %(day)s)
ON CONFLICT DO NOTHING
"""
_LOCK = """
SELECT tokens, nano FROM bridle.tenant_use WHERE tenant = %(tenant)s AND period IN (%(month)s, %(day)s)
ORDER BY period FOR UPDATE
"""
_HOLD = """
INSERT INTO bridle.reservations (session, run, tenant, day, month, tokens, nano, limits)
VALUES (%(session)s, %(run)s, %(tenant)s, %(day)s, %(month)s, %(tokens)s, %(nano)s, %(limits)s)
"""
_ADD = """
UPDATE bridle.tenant_use SET tokens = tokens + %(tokens)s, nano = nano + %(nano)s
WHERE tenant = %(tenant)s AND period IN (%(month)s, %(day)s)
"""
_OPEN = """
SELECT tenant, day, month, tokens, nano FROM bridle.reservations
WHERE session = %s AND run = %s AND settled_at IS NULL
"""
_SETTLE = """
UPDATE bridle.reservations SET settled_at = now() WHERE session = %s AND run = %s AND settled_at IS NULL
"""
_UNSETTLED = """
SELECT session, run, tokens, nano FROM bridle.reservations
WHERE settled_at IS NULL AND made_at <= now() - make_interval(secs => %s) ORDER BY made_at LIMIT %s
"""
_USE = "SELECT period, tokens, nano FROM bridle.tenant_use WHERE tenant = %s ORDER BY period DESC LIMIT %s"

_tenants = msgspec.json.Decoder(Tenant)
_limits = msgspec.json.Decoder(Limits)


class PostgresBudgets:
    """The budget of every tenant; the default tenant has no limits, and nothing is stored for it."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    async def reserve(self, session: SessionId, run_id: RunId, wanted: Limits) -> Limits:
        """Reserve the most a run may use; return `wanted`, reduced to what is left. Raises BudgetSpent."""
        tenant = tenant_of(session)
        if not tenant:
            return wanted

        async def work(connection: Connection) -> Limits:
            async with connection.transaction():
                return await _reserve(connection, tenant, session, run_id, wanted)

        return await self._postgres.retry(work)

    async def settle(self, session: SessionId, run_id: RunId, used: Spend) -> None:
        """Replace a run's reservation by what it used; a second call changes nothing."""
        if not tenant_of(session):
            return

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await _settle(connection, session, run_id, to_amount(used))

        await self._postgres.retry(work)

    async def unsettled(self, older_s: float, limit: int) -> Sequence[Reservation]:
        """Return the unsettled reservations that are at least `older_s` old, oldest first."""
        rows = await self._postgres.rows(_UNSETTLED, (older_s, limit))
        return [Reservation(SessionId(row[0]), RunId(row[1]), Amount(row[2], row[3])) for row in rows]

    async def use(self, tenant: str, limit: int = 31) -> list[tuple[str, Amount]]:
        """Return what is used or reserved, by day and by month, newest first; raises StoreError."""
        rows = await self._postgres.rows(_USE, (tenant, limit))
        return [(row[0], Amount(row[1], row[2])) for row in rows]


async def _reserve(
    connection: Connection, tenant: str, session: SessionId, run_id: RunId, wanted: Limits
) -> Limits:
    await fetch_rows(connection, _LOCK_RUN, (session, run_id))
    day, month = (await fetch_rows(connection, _PERIODS))[0]
    values = {"tenant": tenant, "day": day, "month": month, "session": session, "run": run_id}
    await fetch_rows(connection, _BEGIN, values)
    locked = [Amount(*row) for row in await fetch_rows(connection, _LOCK, values)]
    if known := await fetch_rows(connection, _KNOWN, (session, run_id)):
        return _limits.decode(known[0][0])
    settings = await fetch_rows(connection, _BUDGET, (tenant,))
    limits = (_tenants.decode(settings[0][0]) if settings else Tenant(tenant)).limits
    by_month, by_day = locked  # "2026-01" sorts before "2026-01-31"
    granted = cut_limits(tenant, limits, wanted, by_day, by_month)
    held = {"tokens": granted.held.tokens, "nano": granted.held.nano}
    await fetch_rows(connection, _HOLD, {**values, **held, "limits": encode(granted.limits)})
    await fetch_rows(connection, _ADD, {**values, **held})
    return granted.limits


async def _settle(connection: Connection, session: SessionId, run_id: RunId, used: Amount) -> None:
    await fetch_rows(connection, _LOCK_RUN, (session, run_id))
    found = await fetch_rows(connection, f"{_OPEN} FOR UPDATE", (session, run_id))
    if not found:
        return
    tenant, day, month, tokens, nano = found[0]
    await fetch_rows(connection, _SETTLE, (session, run_id))
    more = used - Amount(tokens, nano)
    periods = {"tenant": tenant, "day": day, "month": month}
    await fetch_rows(
        connection, _LOCK, periods
    )  # every caller locks in the same order, or two could wait for each other
    await fetch_rows(connection, _ADD, {**periods, "tokens": more.tokens, "nano": more.nano})
