from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from bridle.core.budget import WARN_AT, Budget, BudgetKind, Level, Limits, Spend
from tests.core.values import values_of

COUNTED: tuple[Literal["tokens", "tool_calls", "cost"], ...] = ("tokens", "tool_calls", "cost")

small = st.integers(0, 20)
dollars = small.map(lambda quarters: quarters / 4)  # exact in binary, so that sums can be compared
spends = st.builds(Spend, tokens=small, tool_calls=small, cost=dollars, turns=small)
limits = st.builds(
    Limits,
    tokens=st.none() | st.integers(0, 60),
    duration_s=st.none() | st.integers(0, 60).map(float),
    tool_calls=st.none() | st.integers(0, 60),
    cost=st.none() | st.integers(0, 60).map(lambda quarters: quarters / 4),
)


# ---------------------------------------------------------------------------- limits and spends


def test_limits_fill_their_gaps_from_others():
    mine = Limits(tokens=0, cost=1.5)
    others = Limits(tokens=100, duration_s=60.0, tool_calls=5, turns=9)

    assert mine.over(others) == Limits(tokens=0, duration_s=60.0, tool_calls=5, cost=1.5, turns=9)


@given(values_of(Limits), values_of(Limits), values_of(Limits))
def test_limits_layer_like_settings(first: Limits, second: Limits, third: Limits):
    assert first.over(Limits()) == Limits().over(first) == first.over(first) == first
    assert first.over(second).over(third) == first.over(second.over(third))


@given(spends, spends)
def test_spends_add_and_subtract_in_every_kind(one: Spend, other: Spend):
    assert asdict(one + other) == {name: asdict(one)[name] + asdict(other)[name] for name in asdict(one)}
    assert one + other - other == one


# ---------------------------------------------------------------------------- reserve and settle


def test_what_fits_is_reserved():
    budget = Budget(Limits(tokens=100), 0.0)

    assert budget.reserve(Spend(tokens=60)) is None
    assert (budget.used, budget.reserved) == (Spend(), Spend(tokens=60))


def test_what_is_reserved_cannot_be_reserved_again():
    budget = Budget(Limits(tool_calls=2), 0.0)

    granted = [budget.reserve(Spend(tool_calls=1)) for _ in range(3)]

    assert granted == [None, None, Level("tool_calls", 0, 2)]
    assert budget.reserved == Spend(tool_calls=2)


def test_settling_frees_what_was_not_used():
    budget = Budget(Limits(tokens=100), 0.0)
    budget.reserve(Spend(tokens=80))

    budget.settle(Spend(tokens=80), Spend(tokens=30))

    assert (budget.used, budget.reserved) == (Spend(tokens=30), Spend())
    assert budget.reserve(Spend(tokens=70)) is None


def test_settling_more_than_was_reserved_is_recorded_and_then_nothing_is_granted():
    budget = Budget(Limits(tokens=100), 0.0)
    budget.reserve(Spend(tokens=80))

    budget.settle(Spend(tokens=80), Spend(tokens=130))

    assert budget.reserve(Spend(tokens=1)) == Level("tokens", 130, 100)


def test_a_kind_that_is_full_does_not_stand_in_the_way_of_another():
    budget = Budget(Limits(tokens=10, tool_calls=1), 0.0, Spend(tokens=10))

    assert budget.reserve(Spend(tool_calls=1)) is None


@pytest.mark.parametrize(
    ("limits", "level"),
    [
        (Limits(tokens=0), Level("tokens", 0, 0)),
        (Limits(tool_calls=0), Level("tool_calls", 0, 0)),
        (Limits(cost=0.0), Level("cost", 0.0, 0.0)),
    ],
)
def test_a_limit_of_zero_grants_nothing(limits: Limits, level: Level):
    assert Budget(limits, 0.0).reserve(Spend(tokens=1, tool_calls=1, cost=0.01)) == level


def test_without_limits_everything_is_granted():
    assert Budget(Limits(), 0.0).reserve(Spend(10**12, 10**12, 1e12, 10**12)) is None


def test_turns_are_left_to_the_loop():
    assert Budget(Limits(turns=1), 0.0).reserve(Spend(turns=5)) is None
    assert Budget(Limits(turns=1), 0.0, Spend(turns=5)).exhausted(0.0) is None


@given(limits, spends, st.lists(st.tuples(spends, spends, st.booleans(), small), max_size=15))
def test_nothing_is_granted_beyond_a_limit_whatever_the_schedule(
    limits: Limits, before: Spend, schedule: list[tuple[Spend, Spend, bool, int]]
):
    """Each step asks for an amount; some steps first settle one of the open reservations."""
    budget = Budget(limits, 0.0, before)
    spent, outstanding = before, []
    for amount, actual, settles, which in schedule:
        if settles and outstanding:
            reserved = outstanding.pop(which % len(outstanding))
            budget.settle(reserved, actual)
            spent += actual
        planned = sum(outstanding, spent + amount)
        blocking = [
            Level(kind, getattr(spent, kind), getattr(limits, kind))
            for kind in COUNTED
            if getattr(limits, kind) is not None
            and getattr(amount, kind) > 0
            and getattr(planned, kind) > getattr(limits, kind)
        ]

        assert budget.reserve(amount) == (blocking[0] if blocking else None)

        outstanding += [] if blocking else [amount]
        assert (budget.used, budget.reserved) == (spent, sum(outstanding, Spend()))


@given(limits, st.lists(spends, max_size=10))
def test_who_never_uses_more_than_reserved_never_passes_a_limit(limits: Limits, amounts: list[Spend]):
    budget = Budget(limits, 0.0)
    for amount in amounts:
        if budget.reserve(amount) is None:
            budget.settle(amount, amount)

    used = asdict(budget.used)
    assert all(getattr(limits, kind) is None or used[kind] <= getattr(limits, kind) for kind in COUNTED)


# ---------------------------------------------------------------------------- levels, warnings, the end


def test_levels_tell_of_limited_kinds_only():
    budget = Budget(Limits(tokens=100, duration_s=60.0), 1000.0, Spend(tokens=7, cost=3.0))

    assert budget.levels(1012.5) == [Level("tokens", 7, 100), Level("duration", 12.5, 60.0)]


@pytest.mark.parametrize(
    ("limits", "level"),
    [
        (Limits(), None),
        (Limits(tokens=11, duration_s=6.0, tool_calls=3, cost=1.5), None),
        (Limits(tokens=10), Level("tokens", 10, 10)),
        (Limits(tokens=9), Level("tokens", 10, 9)),
        (Limits(duration_s=5.0), Level("duration", 5.0, 5.0)),
        (Limits(tool_calls=2), Level("tool_calls", 2, 2)),
        (Limits(cost=1.0), Level("cost", 1.0, 1.0)),
        (Limits(tokens=10, cost=1.0), Level("tokens", 10, 10)),
    ],
)
def test_a_budget_is_exhausted_once_a_limit_is_reached(limits: Limits, level: Level | None):
    budget = Budget(limits, 100.0, Spend(tokens=10, tool_calls=2, cost=1.0))

    assert budget.exhausted(105.0) == level


@pytest.mark.parametrize("kind", get_args(BudgetKind))
def test_a_limit_of_zero_is_exhausted_at_once(kind: BudgetKind):
    limits = Limits(**{"duration_s" if kind == "duration" else kind: 0})

    assert Budget(limits, 5.0).exhausted(5.0) == Level(kind, 0, 0)


def test_what_is_only_reserved_exhausts_nothing():
    budget = Budget(Limits(tokens=10), 0.0)
    budget.reserve(Spend(tokens=10))

    assert budget.exhausted(0.0) is None


def test_a_warning_comes_once_when_four_fifths_are_used():
    budget = Budget(Limits(tokens=100, duration_s=100.0), 0.0)
    warnings = []
    for tokens, now_s in [(79, 10.0), (1, 20.0), (5, 30.0), (0, 80.0), (15, 200.0)]:
        budget.settle(Spend(), Spend(tokens=tokens))
        warnings.append(budget.new_warnings(now_s))

    assert warnings == [[], [Level("tokens", 80, 100)], [], [Level("duration", 80.0, 100.0)], []]


def test_a_limit_of_zero_is_not_worth_a_warning():
    assert Budget(Limits(tokens=0), 0.0).new_warnings(0.0) == []


@given(limits, st.lists(st.tuples(spends, small), max_size=12))
def test_each_kind_is_warned_about_at_most_once_and_not_before_its_share(
    limits: Limits, steps: list[tuple[Spend, int]]
):
    budget = Budget(limits, 0.0)
    now_s, warned = 0.0, []
    for amount, elapsed_s in steps:
        budget.settle(Spend(), amount)
        now_s += elapsed_s
        warned += budget.new_warnings(now_s)

        over = {
            level.kind
            for level in budget.levels(now_s)
            if level.limit > 0 and level.used >= WARN_AT * level.limit
        }
        assert {level.kind for level in warned} == over
        assert len(warned) == len(over)


@pytest.mark.parametrize(("now_s", "left_s"), [(100.0, 60.0), (130.0, 30.0), (160.0, 0.0), (500.0, 0.0)])
def test_remaining_time_never_goes_below_zero(now_s: float, left_s: float):
    assert Budget(Limits(duration_s=60.0), 100.0).remaining_s(now_s) == left_s


def test_remaining_tokens_leave_out_what_is_reserved():
    budget = Budget(Limits(tokens=100), 0.0, Spend(tokens=30))
    budget.reserve(Spend(tokens=50))
    left = budget.remaining_tokens()
    budget.settle(Spend(tokens=50), Spend(tokens=90))

    assert (left, budget.remaining_tokens()) == (20, 0)


def test_without_limits_there_is_no_remainder():
    budget = Budget(Limits(), 0.0)

    assert (budget.remaining_s(5.0), budget.remaining_tokens()) == (None, None)
