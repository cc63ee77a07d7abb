"""Reservations of runs whose end was not seen are settled."""

import pytest

from bridle.core.budget import Limits
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import RunEnded, RunStarted, SessionCreated, SessionTitled
from bridle.core.tenancy import TenantLimits
from bridle.core.tenant_budget import Amount, to_nanodollars
from bridle.scale import node
from bridle.scale.node import settle_ended
from bridle.stores.ephemeral import EphemeralStore
from tests.local_tenants import LocalBudgets
from tests.stores.sample import CountingClock


async def test_runs_that_ended_are_settled_and_those_that_rest_are_left():
    store = EphemeralStore(CountingClock())
    purse = LocalBudgets(lambda tenant: TenantLimits(month=Limits(tokens=1_000, cost=1.0)))
    for name in ("ended", "rests", "gone"):
        await purse.reserve(SessionId(f"acme.{name}"), RunId(name), Limits(tokens=100, cost=0.1))
    ended, rests = SessionId("acme.ended"), SessionId("acme.rests")
    usage = Usage(input=10, output=5, cache_read=3, reasoning=2)
    await store.append(
        ended,
        0,
        [SessionCreated(ended, "/"), RunEnded(RunId("ended"), "failed", usage=usage, cost=0.02)],
    )
    await store.append(
        rests,
        0,
        [
            SessionCreated(rests, "/"),
            RunEnded(RunId("an earlier one"), "completed"),
            RunStarted(RunId("rests"), "m"),
        ],
    )

    assert await settle_ended(purse, store) == 2
    assert purse.taken("acme") == Amount(18 + 100 + 100, to_nanodollars(0.02) + 2 * to_nanodollars(0.1))
    assert [one.run_id for one in await purse.unsettled(0.0, 10)] == ["rests"]
    assert await settle_ended(purse, store) == 0


async def test_what_was_set_aside_for_a_run_that_never_began_is_given_back(monkeypatch: pytest.MonkeyPatch):
    """Its worker died between the two; another worker started a new run for the prompt."""
    monkeypatch.setattr(node, "TAIL", 2)
    store = EphemeralStore(CountingClock())
    purse = LocalBudgets(lambda tenant: TenantLimits(month=Limits(tokens=1_000)))
    session = SessionId("acme.s")
    await purse.reserve(session, RunId("never"), Limits(tokens=100))
    await purse.reserve(session, RunId("long"), Limits(tokens=100))
    started = RunStarted(RunId("long"), "m")
    titles = [SessionTitled(str(number)) for number in range(5)]
    await store.append(session, 0, [SessionCreated(session, "/"), started, *titles])

    assert await settle_ended(purse, store) == 1
    assert purse.taken("acme").tokens == 100
    assert [one.run_id for one in await purse.unsettled(0.0, 10)] == ["long"]
