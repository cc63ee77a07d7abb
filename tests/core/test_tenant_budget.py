"""The part of a tenant's remaining budget that a run gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.budget import Limits, Spend
from bridle.core.errors import BudgetSpent
from bridle.core.tenancy import TenantLimits
from bridle.core.tenant_budget import Amount, GrantedLimits, cut_limits, to_amount, to_nanodollars

NOTHING = Amount()


def granted(
    limits: TenantLimits, wanted: Limits, day: Amount = NOTHING, month: Amount = NOTHING
) -> GrantedLimits:
    return cut_limits("acme", limits, wanted, day, month)


def test_without_limits_a_run_keeps_its_own():
    own = Limits(tokens=5, turns=3, cost=0.5)

    assert granted(TenantLimits(), own) == GrantedLimits(own, Amount())


def test_a_run_is_cut_to_what_is_left_of_the_tighter_period():
    limits = TenantLimits(day=Limits(tokens=100, cost=1.0), month=Limits(tokens=1000, cost=2.0))

    found = granted(limits, Limits(tokens=500, cost=9.0), Amount(90, 0), Amount(90, to_nanodollars(1.5)))

    assert found == GrantedLimits(Limits(tokens=10, cost=0.5), Amount(10, to_nanodollars(0.5)))


def test_a_run_without_limits_leaves_room_for_others():
    limits = TenantLimits(month=Limits(tokens=1000))

    assert granted(limits, Limits()) == GrantedLimits(Limits(tokens=100), Amount(100, 0))
    assert granted(limits, Limits(), month=Amount(950)) == GrantedLimits(Limits(tokens=50), Amount(50, 0))


def test_the_limits_of_one_run_hold_beside_its_own():
    limits = TenantLimits(month=Limits(tokens=1000), run=Limits(tokens=300, turns=4, cost=0.1))

    found = granted(limits, Limits(tokens=400, turns=9))

    assert found == GrantedLimits(Limits(tokens=300, turns=4, cost=0.1), Amount(300, 0))


@pytest.mark.parametrize(
    ("limits", "day", "month", "words"),
    [
        (TenantLimits(day=Limits(tokens=10)), Amount(10), Amount(10), "its tokens of this day are used up"),
        (
            TenantLimits(month=Limits(tokens=10)),
            Amount(0),
            Amount(11),
            "its tokens of this month are used up",
        ),
        (TenantLimits(month=Limits(cost=0.0)), NOTHING, NOTHING, "its dollars of this month are used up"),
    ],
)
def test_with_nothing_left_no_run_begins(limits: TenantLimits, day: Amount, month: Amount, words: str):
    with pytest.raises(BudgetSpent, match=words):
        granted(limits, Limits(), day, month)


amounts = st.integers(0, 2_000)
maybe = st.none() | amounts
costs = st.none() | st.floats(0, 5, allow_nan=False)


@given(maybe, maybe, costs, costs, maybe, costs, st.builds(Amount, amounts, amounts))
def test_what_is_granted_is_never_more_than_is_left(day, month, day_cost, month_cost, own, own_cost, taken):
    limits = TenantLimits(day=Limits(tokens=day, cost=day_cost), month=Limits(tokens=month, cost=month_cost))
    try:
        found = granted(limits, Limits(tokens=own, cost=own_cost), taken, taken)
    except BudgetSpent:
        return

    for limit in (day, month):
        if limit is not None:
            assert taken.tokens + found.held.tokens <= limit
            assert found.limits.tokens is not None
            assert found.limits.tokens <= found.held.tokens
    for cost in (day_cost, month_cost):
        if cost is not None:
            assert taken.nano + found.held.nano <= to_nanodollars(cost)
            assert found.limits.cost is not None
            assert to_nanodollars(found.limits.cost) <= found.held.nano
    if own is not None:
        assert found.limits.tokens is not None
        assert found.limits.tokens <= own


def test_what_was_used_is_counted_in_whole_numbers():
    assert to_amount(Spend(tokens=7, cost=0.1)) == Amount(7, 100_000_000)
    assert to_amount(Spend(tokens=-1, cost=-1.0)) == Amount()
    assert to_amount(Spend(cost=1e-10)).nano == 1
    assert to_nanodollars(float("inf")) == to_nanodollars(float("nan")) == to_nanodollars(1e300) > 10**18
