"""A process that only visits a cluster, with a real PostgreSQL."""

import asyncio

import pytest

from bridle.core.errors import SessionTaken
from bridle.core.ids import SessionId
from bridle.core.protocol import SessionCreated, SessionTitled
from bridle.scale.guest import GuestClaims, GuestStore
from bridle.scale.members import Member, Members
from bridle.sessions.system_clock import SystemClock
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from tests.patience import PATIENCE_S
from tests.postgres import fresh_database

S, OTHER = SessionId("s"), SessionId("other")


async def test_a_guest_that_slept_for_too_long_loses_its_run_and_comes_back_for_the_next():
    url = fresh_database()
    postgres, judge = Postgres(url), Postgres(url)
    kept = PostgresClaims(postgres, "guest")
    members = Members(postgres, kept, Member("guest", "laptop"), beat_s=0.02, dead_after_s=60)
    claims = GuestClaims(kept, members)
    store = GuestStore(postgres, SystemClock(), claims, "guest")
    async with asyncio.timeout(PATIENCE_S):
        await store.append(S, 0, [SessionCreated(S, "/")])
        assert await claims.claim(S)
        await judge.rows("UPDATE bridle.workers SET gone = true")
        await PostgresClaims(judge, "worker").clear("guest")
        await members.is_lost.wait()

        with pytest.raises(SessionTaken):
            await store.append(S, 1, [SessionTitled("too late")])
        assert not await claims.claim(OTHER)  # while it believes that it has one
        await claims.release(S)

        await store.append(OTHER, 0, [SessionCreated(OTHER, "/")])
        assert await claims.claim(S)
        await store.append(S, 1, [SessionTitled("again")])
        assert [one.id for one in await members.list_living()] == ["guest"]
        await store.aclose()
        assert await judge.rows("SELECT owner FROM bridle.sessions") == [("",), ("",)]
        await judge.aclose()


async def test_a_session_that_another_has_is_not_the_guests():
    url = fresh_database()
    postgres, there = Postgres(url), Postgres(url)
    kept = PostgresClaims(postgres, "guest")
    members = Members(postgres, kept, Member("guest", "laptop"), beat_s=0.02, dead_after_s=60)
    claims = GuestClaims(kept, members)
    store = GuestStore(postgres, SystemClock(), claims, "guest")
    async with asyncio.timeout(PATIENCE_S):
        await PostgresClaims(there, "worker").claim(S)

        assert not await claims.claim(S)
        with pytest.raises(SessionTaken):
            await store.append(S, 0, [SessionCreated(S, "/")])
        await store.aclose()
        await there.aclose()
