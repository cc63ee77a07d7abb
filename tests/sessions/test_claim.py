import pytest

from bridle.core.errors import SessionBusy, StoreError
from bridle.core.ids import SessionId
from bridle.core.protocol import SessionCreated, SessionTitled
from bridle.sessions.bus import Bus
from bridle.sessions.journal import Journal, open_journal
from bridle.sessions.run.preparation import Claim
from bridle.stores.claims import LocalClaims
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.stage import FixedClock

S = SessionId("s")


class FailingStore(EphemeralStore):
    """Cannot be read once it has failed."""

    has_failed = False

    async def read(self, *args, **options):
        if self.has_failed:
            raise StoreError("away")
        return await super().read(*args, **options)


async def opened(store: EphemeralStore) -> Journal:
    await store.append(S, 0, [SessionCreated(S, "/work")])
    return await open_journal(S, store, Bus(), FixedClock())


async def test_whoever_holds_a_session_has_it_up_to_date_and_to_itself():
    store, claims = EphemeralStore(FixedClock()), LocalClaims()
    journal = await opened(store)
    claim = Claim(claims, journal)
    await store.append(S, 1, [SessionTitled("from elsewhere")])

    async with claim.held():
        held = (journal.session.known.title, claim.is_tended, await claims.is_taken(S))

    assert held == ("from elsewhere", True, True)
    assert (claim.is_tended, await claims.is_taken(S)) == (False, False)


async def test_what_another_process_runs_cannot_be_held():
    claims = LocalClaims()
    claim = Claim(claims, await opened(EphemeralStore(FixedClock())))
    await claims.claim(S)

    with pytest.raises(SessionBusy, match="another process"):
        async with claim.held():
            pass

    assert (claim.is_tended, await claims.is_taken(S)) == (False, True)


async def test_a_session_that_cannot_be_brought_up_to_date_is_not_kept():
    store, claims = FailingStore(FixedClock()), LocalClaims()
    claim = Claim(claims, await opened(store))
    store.has_failed = True

    with pytest.raises(StoreError):
        await claim.take()

    assert not await claims.is_taken(S)
