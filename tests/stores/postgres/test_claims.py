"""One worker of the cluster holds a session; its claims are released once it is declared dead."""

import asyncio
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.stores.postgres import claims as claims_module
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from tests.patience import PATIENCE_S
from tests.postgres import fresh_database
from tests.stores.postgres.proxy import Proxy
from tests.stores.sample import OTHER, CountingClock, S, created


@pytest.fixture
def url() -> str:
    return fresh_database()


@pytest.fixture
async def postgres(url: str):
    opened = Postgres(url)
    yield opened
    await opened.aclose()


async def test_workers_exclude_each_other(postgres: Postgres):
    here, there = PostgresClaims(postgres, "here"), PostgresClaims(postgres, "there")

    assert (await here.claim(S), await there.claim(S), await there.claim(OTHER)) == (True, False, True)
    assert (await there.holder(S), await here.holder(SessionId("nobodys"))) == ("here", "")
    assert await here.holders([S, OTHER, SessionId("nobodys")]) == {S: "here", OTHER: "there"}
    await there.release(S)
    assert not await there.claim(S)
    await here.release(S)
    assert await there.claim(S)
    assert (here.held(), there.held()) == (frozenset(), {S, OTHER})


async def test_of_many_who_want_a_session_one_gets_it(url: str):
    opened = [Postgres(url, size=2) for _ in range(6)]
    claims = [PostgresClaims(each, f"w{n}") for n, each in enumerate(opened)]

    taken = await asyncio.gather(*(each.claim(S) for each in claims for _ in range(3)))

    assert sum(taken) == 1
    assert sum(len(each.held()) for each in claims) == 1
    for each in opened:
        await each.aclose()


async def test_what_a_lost_worker_held_is_free_again(postgres: Postgres):
    lost, heir = PostgresClaims(postgres, "lost"), PostgresClaims(postgres, "heir")
    store = PostgresStore(postgres, CountingClock(), "lost")
    for n in range(3):
        assert await lost.claim(SessionId(f"s{n}"))
        await store.append(SessionId(f"s{n}"), 0, [created()])
    assert await lost.claim(OTHER)
    assert await heir.claim(S)

    assert (await heir.clear("lost"), await heir.clear("lost")) == (4, 0)
    assert await heir.claim(SessionId("s1"))
    await lost.release(SessionId("s1"))

    assert (await heir.holder(SessionId("s1")), await heir.holder(S)) == ("heir", "heir")
    assert await postgres.rows("SELECT id FROM bridle.sessions WHERE seq = 0 ORDER BY id") == [(S,)]


async def test_a_claim_without_records_leaves_nothing(postgres: Postgres):
    claims = PostgresClaims(postgres, "one")
    assert await claims.claim(S)
    await claims.release(S)

    assert await postgres.rows("SELECT * FROM bridle.sessions") == []


@pytest.mark.parametrize("size", range(0, 40, 3))
async def test_a_claim_whose_answer_was_lost_is_ours(url: str, tmp_path: Path, size: int):
    async with Proxy(tmp_path) as proxy:
        postgres = Postgres(proxy.url(url), size=1, patience_s=15)
        claims = PostgresClaims(postgres, "one")
        await postgres.rows("SELECT 1")
        proxy.cut_after("down", size)
        taken = await claims.claim(S)
        proxy.cut_after("down", size)
        await claims.release(S)
        other = await PostgresClaims(postgres, "two").claim(S)
        await postgres.aclose()

    assert (taken, other) == (True, True)


async def test_a_claim_that_nobody_waits_for_any_more_is_given_back(
    url: str, postgres: Postgres, tmp_path: Path
):
    """The session is ours by the time the caller is cancelled, and no one has heard of it."""
    other = PostgresClaims(postgres, "two")
    async with Proxy(tmp_path) as proxy, asyncio.timeout(PATIENCE_S):
        slow = Postgres(proxy.url(url), size=2)
        claims = PostgresClaims(slow, "one")
        await slow.rows("SELECT 1")
        proxy.hold()
        claiming = asyncio.create_task(claims.claim(S))
        while await other.holder(S) != "one":
            pass
        claiming.cancel()
        proxy.go_on()
        await asyncio.wait([claiming])
        while not await other.claim(S):
            pass
        await slow.aclose()

    assert (claiming.cancelled(), await other.holder(S)) == (True, "two")


async def test_a_claim_that_fails_is_not_held(tmp_path: Path):
    claims = PostgresClaims(Postgres(f"postgresql:///no?host={tmp_path}", patience_s=0), "one")

    for _ in range(2):
        with pytest.raises(StoreError, match="connection refused"):
            await claims.claim(S)
    assert claims.held() == frozenset()


async def test_a_session_that_could_not_be_given_back_is_once_the_database_is_there(
    url: str, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(claims_module, "AGAIN_S", 0.01)
    other = PostgresClaims(postgres, "two")
    async with asyncio.timeout(PATIENCE_S):
        async with Proxy(tmp_path) as proxy:
            away = Postgres(proxy.url(url), size=1, patience_s=0)
            claims = PostgresClaims(away, "one")
            assert await claims.claim(S)
        (tmp_path / ".s.PGSQL.5432").unlink(missing_ok=True)

        with pytest.raises(StoreError):
            await claims.release(S)

        async with Proxy(tmp_path):
            while not await other.claim(S):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.01)
            while claims.held():  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.01)
            await away.aclose()

    assert await other.holder(S) == "two"


def test_nobody_is_not_a_worker():
    with pytest.raises(ValueError, match="a worker has a name"):
        PostgresClaims(Postgres("postgresql:///x"), "")
