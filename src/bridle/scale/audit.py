"""The audit log: an append-only journal per tenant and node, hash-chained like every session.

```
note ─▶ waits at most half a second ─▶ one append for each tenant ─▶ audit.<tenant>.<node>
flush ─────────────────────────────▶ now
```

An administrator's action is durable before it is answered; of all others a crash may lose the last second.
Neither contents nor secrets are logged. The journals are archived sessions, so default lists do not show
them; `bridle session verify` verifies them like any other.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

from bridle.core.errors import SessionConflict, StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.core.protocol import Audited, AuditOutcome, Event, SessionArchived, SessionCreated
from bridle.core.summary import SessionSummary
from bridle.core.tenancy import Principal, audit_session, audited_tenant

DELAY_S = 0.5
AGAIN_S = 5.0
MAX_WAITING = 10_000  # beyond this, callers wait for the store
MAX_TRIES = 20  # when other processes append to the same journal
MAX_TARGET_CHARS = 200
READ_AT_ONCE = 1_000

log = logging.getLogger("bridle.audit")


class AuditLog:
    """Collects audit events and stores them; its creator closes it."""

    def __init__(
        self, store: Store, node: str, now_ms: Callable[[], int], *, delay_s: float = DELAY_S
    ) -> None:
        """Take a store and the name of this node; no two processes should share a name."""
        self._store = store
        self._node = node
        self._now_ms = now_ms
        self._delay_s = delay_s
        self._waiting: list[Audited] = []
        self._seqs: dict[SessionId, int] = {}
        self._writing = asyncio.Lock()  # keeps the order of events
        self._soon: asyncio.Task[None] | None = None

    async def note(self, who: Principal, action: str, target: str, outcome: AuditOutcome) -> None:
        """Log an action, stored soon; raises StoreError when too many wait and cannot be stored."""
        if len(self._waiting) >= MAX_WAITING:
            await self.flush()  # or raise, so that the backlog does not grow
        target = target[:MAX_TARGET_CHARS]
        self._waiting.append(
            Audited(who.tenant, who.user, who.token_id, action, target, outcome, self._now_ms())
        )
        if len(self._waiting) >= MAX_WAITING:
            await self.flush()
        elif self._soon is None or self._soon.done():
            self._soon = asyncio.create_task(self._store_soon())

    async def flush(self) -> None:
        """Store all waiting events; raises StoreError and keeps them then."""
        async with self._writing:
            while self._waiting:
                tenant = self._waiting[0].tenant
                events = [event for event in self._waiting[:MAX_WAITING] if event.tenant == tenant]
                await self._append(audit_session(tenant, self._node), events)
                stored = set(map(id, events))
                self._waiting = [event for event in self._waiting if id(event) not in stored]

    async def aclose(self) -> None:
        """Store the waiting events if possible; log an error if not."""
        if self._soon is not None:
            self._soon.cancel()
            with suppress(asyncio.CancelledError):
                await self._soon
        try:
            await self.flush()
        except StoreError as error:
            log.error("%d actions are missing from the audit: %s", len(self._waiting), error)

    async def _store_soon(self) -> None:
        await asyncio.sleep(self._delay_s)
        while self._waiting:
            try:
                await self.flush()
            except StoreError as error:
                log.warning("the audit cannot be stored yet: %s", error)
                await asyncio.sleep(AGAIN_S)

    async def _append(self, journal: SessionId, events: Sequence[Audited]) -> None:
        for _ in range(MAX_TRIES):
            seq = self._seqs.get(journal)
            if seq is None:
                newest = await self._store.read(journal, limit=1, newest=True)
                seq = newest[0].seq if newest else 0
            try:
                records = await self._store.append(journal, seq, [*_beginning(journal, seq), *events])
            except SessionConflict:
                self._seqs.pop(journal, None)
                continue
            self._seqs[journal] = records[-1].seq
            return
        raise StoreError(f"the audit journal {journal} has too many concurrent writers")


def _beginning(journal: SessionId, seq: int) -> list[Event]:
    if seq:
        return []
    return [SessionCreated(journal, "/", "audit", f"audit {journal}"), SessionArchived(archived=True)]


async def read_audit(
    store: Store, journals: Sequence[SessionSummary], tenant: str | None = None, since_ms: int = 0
) -> AsyncIterator[Audited]:
    """Yield the events of one tenant or of all, journal by journal; raises StoreError.

    Sessions in `journals` that are not audit journals are skipped.
    """
    for summary in journals:
        about = audited_tenant(summary.id)
        if about is None or tenant not in (None, about) or summary.updated_at < since_ms:
            continue
        after = 0
        while records := await store.read(summary.id, after=after, limit=READ_AT_ONCE):
            after = records[-1].seq
            for record in records:
                if isinstance(record.event, Audited) and record.event.acted_at >= since_ms:
                    yield record.event
