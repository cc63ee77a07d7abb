"""Tenant budgets: the same contract in memory and in PostgreSQL, also for many runs at once."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.budget import Limits, Spend
from bridle.core.errors import BudgetSpent
from bridle.core.ids import RunId, SessionId
from bridle.core.tenancy import Tenant, TenantLimits
from bridle.core.tenant_budget import Amount, Reservation, to_nanodollars
from bridle.stores.postgres.budgets import PostgresBudgets
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.tenants import PostgresTenants
from tests.local_tenants import LocalBudgets
from tests.postgres import fresh_database

MONTH = TenantLimits(month=Limits(tokens=1_000, cost=1.0))
S = SessionId("acme.1")
AnyPurse = LocalBudgets | PostgresBudgets


@pytest.fixture(params=["memory", "postgres"])
async def purse(request: pytest.FixtureRequest) -> AsyncIterator[AnyPurse]:
    if request.param == "memory":
        yield LocalBudgets(lambda tenant: MONTH)
        return
    postgres = Postgres(fresh_database())
    await PostgresTenants(postgres).add(Tenant("acme", limits=MONTH))
    yield PostgresBudgets(postgres)
    await postgres.aclose()


async def taken(purse: AnyPurse) -> Amount:
    if isinstance(purse, LocalBudgets):
        return purse.taken("acme")
    found = await purse.use("acme")
    assert len({amount for _, amount in found}) == 1  # day and month have seen the same
    return found[0][1]


async def test_a_run_is_reserved_for_once_and_settled_once(purse: AnyPurse):
    wanted = Limits(tokens=300, cost=0.25, turns=7)
    for _ in range(2):
        assert await purse.reserve(S, RunId("a"), wanted) == wanted
    assert await taken(purse) == Amount(300, to_nanodollars(0.25))
    assert await purse.unsettled(0.0, 10) == [Reservation(S, RunId("a"), Amount(300, to_nanodollars(0.25)))]

    for _ in range(2):
        await purse.settle(S, RunId("a"), Spend(tokens=120, cost=0.05))
    assert await taken(purse) == Amount(120, to_nanodollars(0.05))
    assert await purse.unsettled(0.0, 10) == []
    assert await purse.reserve(S, RunId("a"), wanted) == wanted  # it was resumed after its end was counted
    assert await taken(purse) == Amount(120, to_nanodollars(0.05))


async def test_a_run_gets_what_is_left_and_then_none_begins(purse: AnyPurse):
    await purse.reserve(S, RunId("a"), Limits(tokens=900, cost=0.1))
    assert await purse.reserve(S, RunId("b"), Limits(tokens=900, cost=0.1)) == Limits(tokens=100, cost=0.1)
    with pytest.raises(BudgetSpent, match="tenant acme: its tokens of this month are used up"):
        await purse.reserve(S, RunId("c"), Limits(tokens=1, cost=0.1))
    await purse.settle(S, RunId("a"), Spend(tokens=2_000))  # more than was set aside
    with pytest.raises(BudgetSpent):
        await purse.reserve(S, RunId("c"), Limits(tokens=1, cost=0.1))


async def test_the_usual_tenant_has_no_purse(purse: AnyPurse):
    wanted = Limits(tokens=10**9)

    assert await purse.reserve(SessionId("1"), RunId("a"), wanted) == wanted
    await purse.settle(SessionId("1"), RunId("a"), Spend(tokens=10**9))
    await purse.settle(S, RunId("nobody knows"), Spend(tokens=5))
    assert await purse.unsettled(0.0, 10) == []


async def test_many_runs_at_once_never_use_more_than_there_is(purse: AnyPurse):
    """Each uses all that it got; some are reserved for twice, and settled twice, as after a crash."""
    chance, used = Random(7), 0

    async def run(number: int) -> None:
        nonlocal used
        session, run_id = SessionId(f"acme.{number % 5}"), RunId(str(number))
        wanted = Limits(tokens=chance.randrange(1, 120), cost=0.001)
        answers = await asyncio.gather(
            *(purse.reserve(session, run_id, wanted) for _ in range(2)), return_exceptions=True
        )
        granted = [answer for answer in answers if isinstance(answer, Limits)]
        assert all(isinstance(answer, Limits | BudgetSpent) for answer in answers)
        if len(granted) < 2:  # between the two another run may have given back what this one needs
            await purse.settle(session, run_id, Spend())
            return
        assert granted[0] == granted[1]
        spent = chance.randrange(0, (granted[0].tokens or 0) + 1)
        used += spent
        await asyncio.gather(
            *(purse.settle(session, run_id, Spend(tokens=spent, cost=0.0005)) for _ in range(2))
        )

    await asyncio.gather(*(run(number) for number in range(60)))

    assert 0 < used <= 1_000
    assert (await taken(purse)).tokens == used
    assert await purse.unsettled(0.0, 10) == []


async def test_a_refused_run_holds_nothing_and_may_ask_again(purse: AnyPurse):
    await purse.reserve(S, RunId("a"), Limits(tokens=1_000, cost=0.1))
    with pytest.raises(BudgetSpent):
        await purse.reserve(S, RunId("b"), Limits(tokens=50, cost=0.1))
    assert [one.run_id for one in await purse.unsettled(0.0, 10)] == ["a"]

    await purse.settle(S, RunId("a"), Spend(tokens=980))
    assert await purse.reserve(S, RunId("b"), Limits(tokens=50, cost=0.1)) == Limits(tokens=20, cost=0.1)
    await purse.settle(S, RunId("b"), Spend())
    assert (await taken(purse)).tokens == 980
    assert await purse.unsettled(0.0, 10) == []


async def test_what_is_still_being_set_aside_for_a_run_that_was_given_up_is_given_back():
    """Its caller cannot know whether that will happen: it was cancelled, or has lost its connection."""
    postgres = Postgres(fresh_database())
    await PostgresTenants(postgres).add(Tenant("acme", limits=MONTH))
    purse = PostgresBudgets(postgres)
    await purse.reserve(S, RunId("first"), Limits(tokens=10, cost=0.0))
    async with postgres.connection() as connection, connection.transaction():
        await connection.execute("SELECT * FROM bridle.tenant_use FOR UPDATE")
        reserving = asyncio.create_task(purse.reserve(S, RunId("a"), Limits(tokens=100, cost=0.0)))
        await until_waiting(postgres, 1)
        giving_up = asyncio.create_task(purse.settle(S, RunId("a"), Spend()))
        await until_waiting(postgres, 2, giving_up)
    await asyncio.gather(reserving, giving_up)

    assert (await taken(purse)).tokens == 10
    assert [one.run_id for one in await purse.unsettled(0.0, 10)] == ["first"]
    await postgres.aclose()


async def until_waiting(postgres: Postgres, many: int, unless: asyncio.Task[None] | None = None) -> None:
    """Wait until so many statements of our database wait for a lock, or a task has ended."""
    waiting = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
    while not (unless and unless.done()):
        if (await postgres.rows(waiting))[0][0] >= many:
            return
        await asyncio.sleep(0.01)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 400), st.integers(0, 400)), max_size=40))
def test_what_was_granted_and_not_settled_always_fits(steps: list[tuple[int, int, int]]):
    async def play() -> None:
        purse = LocalBudgets(lambda tenant: MONTH)
        granted: dict[int, int] = {}
        for number, wanted, share in steps:
            run_id = RunId(str(number))
            if number in granted and share % 2:
                await purse.settle(S, run_id, Spend(tokens=min(share, granted[number])))
            else:
                try:
                    limits = await purse.reserve(S, run_id, Limits(tokens=wanted, cost=0.0))
                except BudgetSpent:
                    continue
                granted.setdefault(number, limits.tokens or 0)
            assert (await taken(purse)).tokens <= 1_000

    asyncio.run(play())


async def test_a_limit_that_was_changed_holds_for_the_next_run():
    postgres = Postgres(fresh_database())
    tenants, purse = PostgresTenants(postgres), PostgresBudgets(postgres)
    await tenants.add(Tenant("acme"))
    assert await purse.reserve(S, RunId("a"), Limits()) == Limits()
    await tenants.change("acme", lambda tenant: Tenant("acme", limits=TenantLimits(day=Limits(tokens=100))))

    assert await purse.reserve(S, RunId("b"), Limits()) == Limits(tokens=10)
    await postgres.aclose()
