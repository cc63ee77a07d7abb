"""The audit: chained, in order, shared by several writers, and never silently lost."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.protocol import Audited, Event, Record, SessionArchived, SessionCreated
from bridle.core.tenancy import Principal
from bridle.scale import audit as audit_module
from bridle.scale.audit import AuditLog, read_audit
from bridle.stores.ephemeral import EphemeralStore
from bridle.stores.sqlite import SqliteStore
from tests.patience import PATIENCE_S
from tests.stores.sample import CountingClock

ANN = Principal("acme", "ann", ("run",), "k1")
BOB = Principal("", "bob", ("admin",), "k2")


class Broken(EphemeralStore):
    """A store that can be away."""

    is_away = False

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        if self.is_away:
            raise StoreError("away")
        return await super().append(session, expected_seq, events)


async def acts(store: EphemeralStore | SqliteStore, tenant: str | None = None, since: int = 0) -> list[str]:
    journals = await store.list(archived=True)
    return [event.action async for event in read_audit(store, journals, tenant, since)]


async def test_what_is_noted_is_a_chained_journal_that_no_list_shows(tmp_path: Path):
    store = SqliteStore(tmp_path / "a.db", CountingClock())
    log = AuditLog(store, "node.1", lambda: 7)
    await log.note(ANN, "prompt", "acme.1", "done")
    await log.note(ANN, "delete", "acme.1", "refused")
    await log.flush()

    journal = SessionId("audit.acme.node-1")
    assert [record.event for record in await store.read(journal)] == [
        SessionCreated(journal, "/", "audit", f"audit {journal}"),
        SessionArchived(archived=True),
        Audited("acme", "ann", "k1", "prompt", "acme.1", "done", 7),
        Audited("acme", "ann", "k1", "delete", "acme.1", "refused", 7),
    ]
    assert await store.list() == []
    assert await store.flaws(journal) == []
    await log.aclose()
    await store.aclose()


async def test_it_is_stored_soon_without_being_asked_for():
    store = EphemeralStore(CountingClock())
    log = AuditLog(store, "node", lambda: 1, delay_s=0.0)
    await log.note(ANN, "prompt", "acme.1", "done")

    async with asyncio.timeout(PATIENCE_S):
        while not await acts(store):  # noqa: ASYNC110  the store tells no one
            await asyncio.sleep(0.001)
    await log.aclose()


async def test_tenants_have_journals_of_their_own():
    store = EphemeralStore(CountingClock())
    log = AuditLog(store, "node", lambda: 5)
    for who, action in ((ANN, "a"), (BOB, "b"), (ANN, "c")):
        await log.note(who, action, "", "done")
    await log.aclose()

    assert await acts(store, "acme") == ["a", "c"]
    assert await acts(store, "") == ["b"]
    assert sorted(await acts(store)) == ["a", "b", "c"]
    assert await acts(store, since=6) == []


async def test_two_writers_of_one_name_lose_nothing():
    store = EphemeralStore(CountingClock())
    logs = [AuditLog(store, "node", lambda: 1) for _ in range(3)]
    for number in range(10):
        for log in logs:
            await log.note(ANN, str(number), "", "done")
        await asyncio.gather(*(log.flush() for log in logs))
    for log in logs:
        await log.aclose()

    assert sorted(await acts(store)) == sorted(map(str, [*range(10)] * 3))


async def test_while_the_store_is_away_notes_wait_and_then_acts_fail(caplog: pytest.LogCaptureFixture):
    store = Broken(CountingClock())
    log = AuditLog(store, "node", lambda: 1, delay_s=3600.0)
    store.is_away = True
    await log.note(ANN, "first", "", "done")
    with pytest.raises(StoreError, match="away"):
        await log.flush()
    for _ in range(audit_module.MAX_WAITING - 2):
        await log.note(ANN, "more", "", "done")
    with pytest.raises(StoreError, match="away"):
        await log.note(ANN, "too much", "", "done")
    for _ in range(3):  # whoever tries again and again must not fill the memory
        with pytest.raises(StoreError, match="away"):
            await log.note(ANN, "one more", "", "refused")

    store.is_away = False
    await log.aclose()
    stored = await acts(store)
    assert (len(stored), stored[0], stored[-1]) == (audit_module.MAX_WAITING, "first", "too much")


async def test_what_cannot_be_stored_at_the_end_is_said(caplog: pytest.LogCaptureFixture):
    store = Broken(CountingClock())
    log = AuditLog(store, "node", lambda: 1)
    store.is_away = True
    await log.note(ANN, "lost", "", "done")
    await log.aclose()

    assert "1 actions are missing from the audit: away" in caplog.text


async def test_what_was_acted_on_is_cut():
    store = EphemeralStore(CountingClock())
    log = AuditLog(store, "node", lambda: 1)
    await log.note(ANN, "x", "y" * 1000, "done")
    await log.aclose()
    journals = await store.list(archived=True)

    assert [len(event.target) async for event in read_audit(store, journals)] == [200]
