"""Features of the PostgreSQL store only: fences, lost answers, tenants, notifications."""

import asyncio
from itertools import chain
from pathlib import Path

import psycopg
import pytest

from bridle.core.errors import SessionConflict, SessionNotFound, SessionTaken, StoreFull
from bridle.core.ids import SessionId
from bridle.core.protocol import RunStarted, SessionArchived
from bridle.stores.integrity import fsck, verify
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.retention import prune_archived
from bridle.stores.postgres.store import PostgresStore
from bridle.stores.record_lines import Flaw
from tests.patience import PATIENCE_S
from tests.postgres import fresh_database
from tests.stores.postgres.proxy import Proxy
from tests.stores.sample import OTHER, RUN, CountingClock, S, created, finished, said


class StuckClock(CountingClock):
    """Shows the time that was set."""

    def __init__(self, now_ms: int) -> None:
        self.now = now_ms

    def now_ms(self) -> int:
        return self.now


@pytest.fixture
def url() -> str:
    return fresh_database()


@pytest.fixture
async def postgres(url: str):
    opened = Postgres(url, patience_s=10)
    yield opened
    await opened.aclose()


async def declare_gone(postgres: Postgres, worker: str) -> None:
    await postgres.rows(
        "INSERT INTO bridle.workers (id, gone) VALUES (%s, true) ON CONFLICT (id) DO UPDATE SET gone = true",
        (worker,),
    )


# ---------------------------------------------------------------------------- the fence


async def test_only_the_holder_of_a_session_may_append(postgres: Postgres):
    holder, other, gateway = (PostgresStore(postgres, CountingClock(), name) for name in ("one", "two", ""))
    await gateway.append(S, 0, [created()])
    claims = PostgresClaims(postgres, "one")
    assert await claims.claim(S)

    await holder.append(S, 1, [said("mine")])
    for store in (other, gateway):
        with pytest.raises(SessionTaken, match="is held by worker one"):
            await store.append(S, 2, [said("not mine")])
        with pytest.raises(SessionTaken):
            await store.delete(S)
    await claims.release(S)
    await other.append(S, 2, [said("free")])

    assert [r.event for r in await gateway.read(S)] == [created(), said("mine"), said("free")]


async def test_what_a_store_remembers_of_a_session_does_not_get_it_past_the_fence(postgres: Postgres):
    """It was frozen, its claim was dropped, and another one has taken the session but not written yet."""
    frozen, gateway = (
        PostgresStore(postgres, CountingClock(), "one"),
        PostgresStore(postgres, CountingClock()),
    )
    claims, heirs = PostgresClaims(postgres, "one"), PostgresClaims(postgres, "two")
    assert await claims.claim(S)
    await frozen.append(S, 0, [created()])
    await gateway.append(OTHER, 0, [created(OTHER)])
    await heirs.clear("one")
    assert (await heirs.claim(S), await heirs.claim(OTHER)) == (True, True)

    with pytest.raises(SessionTaken, match="is held by worker two"):
        await frozen.append(S, 1, [said("too late")])
    with pytest.raises(SessionTaken, match="is held by worker two"):
        await gateway.append(OTHER, 1, [said("too late")])

    assert [len(await gateway.read(session)) for session in (S, OTHER)] == [1, 1]


async def test_a_worker_that_was_given_up_writes_nothing_more(postgres: Postgres):
    """It was frozen, and wakes up before anybody has taken its sessions, or after."""
    frozen, heir = (
        PostgresStore(postgres, CountingClock(), "one"),
        PostgresStore(postgres, CountingClock(), "two"),
    )
    claims = PostgresClaims(postgres, "one")
    assert await claims.claim(S)
    stored = await frozen.append(S, 0, [created()])

    await declare_gone(postgres, "one")
    assert await PostgresClaims(postgres, "two").clear("one") == 1
    for session, seq in ((S, 1), (OTHER, 0)):
        with pytest.raises(SessionTaken, match="worker one was declared gone"):
            await frozen.append(session, seq, [said("too late")])
    with pytest.raises(SessionTaken):
        await frozen.delete(S)
    assert not await claims.claim(OTHER)
    assert await PostgresClaims(postgres, "two").claim(S)
    stored += await heir.append(S, 1, [said("goes on")])
    with pytest.raises(SessionTaken, match="is held by worker two"):
        await frozen.append(S, 2, [said("too late")])

    assert await heir.read(S) == stored
    assert await heir.ids() == [S]


async def test_a_claim_before_the_first_record_is_seen_by_nobody_but_counts(postgres: Postgres):
    store, other = PostgresStore(postgres, CountingClock(), "one"), PostgresStore(postgres, CountingClock())
    assert await PostgresClaims(postgres, "one").claim(S)

    assert (await other.list(), await other.ids(), await other.read(S), await fsck(other)) == ([], [], [], [])
    with pytest.raises(SessionTaken):
        await other.append(S, 0, [created()])
    with pytest.raises(SessionNotFound):
        await store.delete(S)
    records = await store.append(S, 0, [created()])

    assert await other.read(S) == records


# ---------------------------------------------------------------------------- one writer wins


async def test_of_eight_writers_exactly_one_wins_each_number(url: str):
    opened = [Postgres(url, size=1) for _ in range(8)]
    wins: dict[int, list[int]] = {number: [] for number in range(8)}

    async def write(number: int) -> None:
        store = PostgresStore(opened[number], CountingClock())
        seq = 0
        while seq < 40:
            try:
                (record,) = await store.append(S, seq, [said(f"{number}")])
                wins[number].append(record.seq)
                seq = record.seq
            except SessionConflict:
                seq = len(await store.read(S))

    async with asyncio.TaskGroup() as group:
        for number in wins:
            group.create_task(write(number))
    store = PostgresStore(opened[0], CountingClock())
    records = await store.read(S)
    for postgres in opened:
        await postgres.aclose()

    assert sorted(chain.from_iterable(wins.values())) == list(range(1, len(records) + 1))
    assert {r.seq: r.event for r in records} == {
        seq: said(f"{number}") for number, won in wins.items() for seq in won
    }


@pytest.mark.parametrize(("direction", "sizes"), [("up", range(0, 700, 13)), ("down", range(40))])
async def test_a_connection_that_is_cut_anywhere_loses_and_doubles_nothing(
    url: str, tmp_path: Path, direction: str, sizes: range
):
    async with Proxy(tmp_path) as proxy:
        postgres = Postgres(proxy.url(url), size=1, patience_s=15)
        store = PostgresStore(postgres, CountingClock())
        expected = await store.append(S, 0, [created()])
        for size in sizes:
            proxy.cut_after(direction, size)
            expected += await store.append(S, len(expected), [finished(f"c{size}"), said(f"{size}")])
        await postgres.aclose()

    direct = Postgres(url)
    store = PostgresStore(direct, CountingClock())
    assert await store.read(S) == expected
    assert (await verify(store, S)).ok
    assert await fsck(store) == []
    assert proxy.cuts >= 20
    await direct.aclose()


async def test_an_append_whose_answer_was_lost_is_found_even_if_others_have_gone_on(url: str, tmp_path: Path):
    direct = Postgres(url)
    other = PostgresStore(direct, CountingClock(), "two")
    async with Proxy(tmp_path) as proxy:
        postgres = Postgres(proxy.url(url), size=1, patience_s=15)
        store = PostgresStore(postgres, CountingClock())
        await store.append(S, 0, [created()])
        proxy.cut_after("down", 0)
        appending = asyncio.create_task(store.append(S, 1, [said("mine")]))
        async with asyncio.timeout(PATIENCE_S):
            while len(await other.read(S)) < 2:
                pass
        await PostgresClaims(direct, "two").claim(S)
        await other.append(S, 2, [said("theirs")])
        (mine,) = await appending
        await postgres.aclose()

    assert (await other.read(S))[1] == mine
    await direct.aclose()


# ---------------------------------------------------------------------------- the rest


async def test_dates_never_go_back_however_clocks_differ(postgres: Postgres):
    ahead, behind = StuckClock(2_000_000_000_000), StuckClock(1_000_000_000_000)
    one, two = PostgresStore(postgres, ahead), PostgresStore(postgres, behind)

    await one.append(S, 0, [created()])
    await two.append(S, 1, [said("behind")])
    behind.now = 1_500_000_000_000
    await two.append(S, 2, [finished("c1")])
    ahead.now += 5
    await one.append(S, 3, [said("ahead")])

    assert [r.at - 2_000_000_000_000 for r in await one.read(S)] == [0, 0, 0, 5]
    assert (await verify(one, S)).ok


async def test_the_list_of_a_tenant_holds_its_own_sessions_only(postgres: Postgres):
    store = PostgresStore(postgres, CountingClock())
    names = [SessionId(name) for name in ("acme.1", "acme.2", "zeta.1", "plain", "acme2.1")]
    for name in names:
        await store.append(name, 0, [created(name)])
    await store.append(names[0], 1, [SessionArchived(True)])

    listed = {
        tenant: [s.id for s in await store.list(tenant=tenant)]
        for tenant in ("acme", "zeta", "", "acme2", "no")
    }

    assert listed == {
        "acme": ["acme.2"],
        "zeta": ["zeta.1"],
        "": ["plain"],
        "acme2": ["acme2.1"],
        "no": [],
    }
    assert [s.id for s in await store.list(tenant="acme", archived=True)] == ["acme.1", "acme.2"]
    assert [s.id for s in await store.list()] == ["acme2.1", "plain", "zeta.1", "acme.2"]


async def test_archived_sessions_are_removed_when_nobody_has_touched_them_for_long(postgres: Postgres):
    clock = StuckClock(1_000)
    store = PostgresStore(postgres, clock)
    names = [SessionId(name) for name in ("old", "new", "open", "held", "acme.old")]
    for name in names:
        clock.now = 5_000 if name == "new" else 1_000
        await store.append(name, 0, [created(name), *([] if name == "open" else [SessionArchived(True)])])
    assert await PostgresClaims(postgres, "one").claim(SessionId("held"))

    removed = [
        await prune_archived(postgres, before_ms=2_000, tenant="acme"),
        await prune_archived(postgres, before_ms=2_000),
        await prune_archived(postgres, before_ms=2_000),
    ]

    assert removed == [1, 1, 0]
    assert await store.ids() == ["held", "new", "open"]
    assert (await store.read(SessionId("old")), await fsck(store)) == ([], [])


async def test_a_full_disk_is_told_and_loses_nothing(postgres: Postgres, url: str):
    store = PostgresStore(postgres, CountingClock())
    stored = await store.append(S, 0, [created()])
    full = """
        CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER no_space BEFORE INSERT ON bridle.records FOR EACH ROW EXECUTE FUNCTION no_space()
    """
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(full)
        with pytest.raises(StoreFull, match="no space left"):
            await store.append(S, 1, [said("too much")])
        connection.execute("DROP TRIGGER no_space ON bridle.records")

    assert await store.read(S) == stored
    await store.append(S, 1, [said("fits")])
    assert (await verify(store, S)).records == 2


@pytest.mark.parametrize(
    ("damage", "flaws"),
    [
        (
            "UPDATE bridle.sessions SET summary = 'no json'",
            [Flaw("missing_summary", "it has no readable summary", S, repaired=True)],
        ),
        (
            "DELETE FROM bridle.records WHERE seq = 3",
            [Flaw("truncated", "it had 3 events and has 2", S, 3)],
        ),
        (
            "UPDATE bridle.records SET at = 7 WHERE seq = 2",
            [Flaw("mislabelled", "the row's number or date is not that of its line", S, 2)],
        ),
        (
            "UPDATE bridle.sessions SET seq = 2",
            [Flaw("mislabelled", "its row and its records end differently", S, 2)],
        ),
    ],
)
async def test_damage_around_the_lines_is_found(postgres: Postgres, damage: str, flaws: list[Flaw]):
    store = PostgresStore(postgres, CountingClock())
    await store.append(S, 0, [created(), said("hello"), RunStarted(RUN, "m")])
    (before,) = await store.list()
    await postgres.rows(damage)

    assert await fsck(store, repair=True) == flaws
    if flaws[0].repaired:
        assert await fsck(store) == []
        assert await store.list() == [before]


async def test_a_summary_that_cannot_be_read_is_made_anew_by_the_next_change(postgres: Postgres):
    store = PostgresStore(postgres, CountingClock())
    await store.append(S, 0, [created(), said("hello")])
    await postgres.rows("UPDATE bridle.sessions SET summary = 'no json'")

    await PostgresStore(postgres, CountingClock()).append(S, 2, [RunStarted(RUN, "m")])

    assert [(s.title, s.unfinished) for s in await store.list()] == [("hello", True)]


async def test_most_appends_leave_the_indexes_alone(postgres: Postgres):
    store = PostgresStore(postgres, CountingClock())
    await store.append(S, 0, [created()])
    for seq in range(1, 21):
        await store.append(S, seq, [finished(f"c{seq}")])

    await postgres.rows("SELECT pg_stat_force_next_flush()")
    ((updates, heap_only),) = await postgres.rows(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'sessions'"
    )
    assert (updates, heap_only) == (20, 20)
