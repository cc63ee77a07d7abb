import math
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from bridle.core.budget import WARN_AT, Budget, BudgetKind, Level, Limits, Share, Spend, max_spend
from bridle.core.errors import UsageError
from bridle.core.messages import Usage
from bridle.core.model import Price, cost_of
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


def test_turns_are_limited_like_everything_else():
    budget = Budget(Limits(turns=2), 0.0)

    assert [budget.reserve(Spend(turns=1)) for _ in range(3)] == [None, None, Level("turns", 0, 2)]
    budget.settle(Spend(turns=2), Spend(turns=2))
    assert budget.exhausted(0.0) == Level("turns", 2, 2)


def test_what_is_refused_for_its_turns_holds_nothing_of_the_rest():
    budget = Budget(Limits(turns=0, tokens=10), 0.0)

    assert budget.reserve(Spend(tokens=10, turns=1)) == Level("turns", 0, 0)
    assert budget.reserved == Spend()


@pytest.mark.parametrize("amount", [-1, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_what_is_no_amount_cannot_be_a_limit(name: str, amount: float):
    with pytest.raises(UsageError, match=f"^{name}: {amount} is not a valid limit "):
        Budget(Limits(**{name: amount}), 0.0)


def test_dollars_add_up_without_a_remainder():
    budget = Budget(Limits(cost=0.3), 0.0)
    for cost in (0.1, 0.2):
        assert budget.reserve(Spend(cost=cost)) is None
    for cost in (0.1, 0.2):
        budget.settle(Spend(cost=cost), Spend(cost=cost))

    assert (budget.used, budget.reserved, budget.remaining_cost()) == (Spend(cost=0.3), Spend(), 0.0)


def test_nothing_is_given_back_by_a_negative_amount_or_twice():
    budget = Budget(Limits(tokens=10), 0.0, Spend(tokens=5))
    budget.reserve(Spend(tokens=2))

    budget.settle(Spend(tokens=2), Spend(tokens=-3, cost=-1.0, turns=-1))
    budget.settle(Spend(tokens=2), Spend())

    assert (budget.used, budget.reserved) == (Spend(tokens=5), Spend())


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


@pytest.mark.parametrize(("warn_at", "used"), [(0.5, 50), (1.0, 100), (0.001, 1)])
def test_when_a_warning_comes_can_be_chosen(warn_at: float, used: int):
    budget = Budget(Limits(tokens=100), 0.0, warn_at=warn_at)

    budget.settle(Spend(), Spend(tokens=used - 1))
    before = [level for level in budget.new_warnings(0.0) if used > 1]
    budget.settle(Spend(), Spend(tokens=1))

    assert (before, budget.new_warnings(0.0)) == ([], [Level("tokens", used, 100)])


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


# ---------------------------------------------------------------------------- what the next request may cost

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)


@pytest.mark.parametrize(
    ("limits", "input_tokens", "price", "fits"),
    [
        (Limits(), 10**6, PRICE, 500),
        (Limits(tokens=100), 60, None, 40),
        (Limits(tokens=1000), 60, None, 500),
        (Limits(tokens=100), 99, None, 1),
        (Limits(tokens=100), 100, None, None),
        (Limits(tokens=0), 0, None, None),
        (Limits(cost=0.001), 0, PRICE, 66),
        (Limits(cost=0.001), 200, PRICE, 16),  # 200 × 3.75 $/M leave 0.00025 $
        (Limits(cost=0.001), 267, PRICE, None),
        (Limits(cost=0.001), 10**6, None, 500),
        (Limits(cost=0.001), 10**6, Price(0.0, 0.0), 500),
        (Limits(cost=0.0), 1, PRICE, None),
        (Limits(cost=0.0), 1, None, None),
        (Limits(cost=0.0), 1, Price(0.0, 0.0), None),
        (Limits(cost=1.0, tokens=205), 200, PRICE, 5),
        (Limits(cost=0.001, tokens=205), 200, Price(3.0, 1000.0), None),
    ],
)
def test_an_answer_gets_what_is_left_after_its_request(
    limits: Limits, input_tokens: int, price: Price | None, fits: int | None
):
    assert Budget(limits, 0.0).affordable_output(input_tokens, price, 500) == fits


def test_an_answer_of_no_tokens_is_none():
    assert Budget(Limits(), 0.0).affordable_output(5, None, 0) is None


def test_a_long_request_is_paid_at_the_price_of_long_ones():
    price = Price(1.0, 1.0, above_tokens=100, above=Price(2.0, 4.0))
    budget = Budget(Limits(cost=0.001), 0.0)

    assert [budget.affordable_output(tokens, price, 10**6) for tokens in (100, 101)] == [900, 199]


@pytest.mark.parametrize("price", [None, Price(0.0, 0.0), PRICE])
def test_a_cost_limit_of_zero_lets_no_request_through(price: Price | None):
    assert Budget(Limits(cost=0.0), 0.0).reserve(max_spend(0, 1, price)) == Level("cost", 0.0, 0.0)


def test_a_free_answer_may_follow_when_the_request_took_the_last_cent():
    budget = Budget(Limits(cost=0.01), 0.0)

    assert budget.affordable_output(10_000, Price(1.0, 0.0), 7) == 7
    assert budget.reserve(max_spend(10_000, 7, Price(1.0, 0.0))) is None


@given(
    limit=st.integers(0, 10**7).map(lambda millionths: millionths / 10**6),
    tokens=st.none() | st.integers(0, 10**6),
    input_tokens=st.integers(0, 10**5),
    cached=st.integers(0, 10**5),
    price=st.none() | st.builds(Price, *[st.integers(0, 10**5).map(lambda mills: mills / 1000)] * 4),
)
def test_what_is_affordable_can_be_reserved_and_one_token_more_cannot(
    limit: float, tokens: int | None, input_tokens: int, cached: int, price: Price | None
):
    budget = Budget(Limits(cost=limit, tokens=tokens), 0.0)
    most = 10**9
    fits = budget.affordable_output(input_tokens, price, most)

    if fits != most:
        assert budget.reserve(max_spend(input_tokens, (fits or 0) + 1, price)) is not None
    if fits is not None:
        reserved = max_spend(input_tokens, fits, price)
        assert budget.reserve(reserved) is None
        cached = min(cached, input_tokens)
        cost = cost_of(Usage(input_tokens - cached, fits, 0, cached), price)
        budget.settle(reserved, Spend(cost=cost or 0.0))
        assert budget.used.cost <= limit


# ---------------------------------------------------------------------------- shares


def test_an_equal_share_is_set_aside():
    parent = Budget(Limits(tokens=90, tool_calls=9, cost=0.9), 0.0)

    shares = [parent.share(Share("equal", among=among), 5.0) for among in (3, 2, 1)]

    assert [child.limits for child in shares] == [Limits(tokens=30, tool_calls=3, cost=0.3)] * 3
    assert parent.set_aside == Spend(90, 9, 0.9)
    assert parent.reserve(Spend(tokens=1)) == Level("tokens", 0, 90)
    assert shares[0].reserve(Spend(30, 3, 0.3)) is None
    assert shares[0].reserve(Spend(tokens=1)) == Level("tokens", 0, 30)


def test_a_proportional_share_follows_its_weight():
    parent = Budget(Limits(tokens=1000, cost=1.0), 0.0)

    first = parent.share(Share("proportional", weight=0.1, weights=0.4), 0.0)
    second = parent.share(Share("proportional", weight=2, weights=3), 0.0)

    assert [first.limits, second.limits] == [Limits(tokens=250, cost=0.25), Limits(tokens=500, cost=0.5)]


def test_a_fixed_share_is_at_most_what_is_left():
    parent = Budget(Limits(tokens=100, tool_calls=5), 0.0, Spend(tokens=20))
    parent.reserve(Spend(tokens=10))
    wanted = Share("fixed", limits=Limits(tokens=50, cost=0.5))

    first, second = parent.share(wanted, 0.0), parent.share(wanted, 0.0)

    assert [first.limits, second.limits] == [Limits(tokens=50, cost=0.5), Limits(tokens=20, cost=0.5)]
    assert (parent.remaining_tokens(), parent.set_aside) == (0, Spend(tokens=70))
    assert first.reserve(Spend(tool_calls=5)) is None
    assert second.reserve(Spend(tool_calls=1)) == Level("tool_calls", 0, 5)


def test_children_of_the_rest_compete_for_it():
    parent = Budget(Limits(tokens=100), 0.0)
    first, second = parent.share(Share(), 0.0), parent.share(Share(), 0.0)

    assert (first.limits, parent.set_aside) == (Limits(), Spend())
    assert first.reserve(Spend(tokens=70)) is None
    assert (second.remaining_tokens(), parent.remaining_tokens()) == (30, 30)
    assert second.reserve(Spend(tokens=31)) == Level("tokens", 0, 100)
    first.settle(Spend(tokens=70), Spend(tokens=50))
    assert second.reserve(Spend(tokens=50)) is None
    assert parent.reserve(Spend(tokens=1)) == Level("tokens", 50, 100)


def test_limits_bound_a_share_of_the_rest_and_of_a_part_further():
    parent = Budget(Limits(tokens=100, tool_calls=8), 0.0)
    bounds = Limits(tokens=10, cost=0.5)

    rest = parent.share(Share(limits=bounds), 0.0)
    part = parent.share(Share("equal", among=4, limits=bounds), 0.0)

    assert [rest.limits, part.limits] == [bounds, Limits(tokens=10, tool_calls=2, cost=0.5)]
    assert parent.set_aside == Spend(tokens=10, tool_calls=2)
    assert rest.reserve(Spend(tokens=11)) == Level("tokens", 0, 10)


def test_a_share_of_a_share_reaches_no_further_than_every_budget_above():
    root = Budget(Limits(tokens=100), 0.0)
    middle = root.share(Share(), 0.0)
    leaf = middle.share(Share("fixed", limits=Limits(tokens=60)), 0.0)

    assert (root.set_aside, root.remaining_tokens()) == (Spend(tokens=60), 40)
    assert root.share(Share("fixed", limits=Limits(tokens=60)), 0.0).limits == Limits(tokens=40)
    assert leaf.reserve(Spend(tokens=60)) is None
    assert middle.reserve(Spend(tokens=1)) == Level("tokens", 0, 100)


def test_what_a_child_uses_shows_above_at_once_and_counts_once():
    root = Budget(Limits(tokens=100, cost=1.0), 0.0)
    child = root.share(Share("equal", among=2), 0.0)
    grandchild = child.share(Share(), 0.0)

    grandchild.reserve(Spend(tokens=30, cost=0.1))
    grandchild.settle(Spend(tokens=30, cost=0.1), Spend(tokens=20, cost=0.07, turns=1))

    assert [budget.used for budget in (root, child, grandchild)] == [
        Spend(tokens=20, cost=0.07),
        Spend(tokens=20, cost=0.07),
        Spend(tokens=20, cost=0.07, turns=1),
    ]
    assert (root.set_aside, root.remaining_tokens()) == (Spend(tokens=30, cost=0.43), 50)


def test_what_a_child_uses_beyond_its_share_is_missing_above():
    root = Budget(Limits(tokens=100), 0.0)
    first, second = (root.share(Share("equal", among=among), 0.0) for among in (2, 1))
    first.reserve(Spend(tokens=50))

    first.settle(Spend(tokens=50), Spend(tokens=80))

    assert (first.exhausted(0.0), second.exhausted(0.0)) == (Level("tokens", 80, 50), None)
    assert (root.remaining_tokens(), second.remaining_tokens()) == (0, 20)
    assert second.reserve(Spend(tokens=21)) == Level("tokens", 80, 100)
    assert second.reserve(Spend(tokens=20)) is None


def test_a_child_is_out_of_budget_when_the_one_it_draws_on_is():
    root = Budget(Limits(tokens=100, turns=1, duration_s=9.0), 0.0)
    child = root.share(Share(), 0.0)

    root.settle(Spend(), Spend(turns=1))
    assert child.exhausted(0.0) is None
    root.settle(Spend(), Spend(tokens=100))
    assert child.exhausted(0.0) == Level("tokens", 100, 100)
    assert child.levels(1.0) == [Level("duration", 1.0, 9.0), Level("turns", 0, 1)]
    assert child.new_warnings(1.0) == []


def test_turns_and_time_bound_a_child_and_are_not_taken_from_its_parent():
    root = Budget(Limits(turns=3, duration_s=60.0), 100.0)
    bounds = Limits(turns=5, duration_s=50.0)

    early, late = (root.share(Share(limits=bounds), now_s) for now_s in (105.0, 130.0))
    free = root.share(Share("equal", among=2), 150.0)

    assert [early.limits, late.limits] == [
        Limits(turns=3, duration_s=50.0),  # no more than the parent may have
        Limits(turns=3, duration_s=30.0),
    ]
    assert free.limits == Limits(turns=3, duration_s=10.0)
    assert [budget.remaining_s(155.0) for budget in (root, early, late, free)] == [5.0, 0.0, 5.0, 5.0]


def test_a_limit_of_zero_leaves_nothing_to_share():
    root = Budget(Limits(tokens=0, tool_calls=0, cost=0.0), 0.0)
    policies = [Share(), Share("equal"), Share("proportional"), Share("fixed", limits=Limits(tokens=5))]

    for share in policies:
        child = root.share(share, 0.0)
        assert child.reserve(Spend(tokens=1)) == Level("tokens", 0, 0)
        assert child.exhausted(0.0) == Level("tokens", 0, 0)


def test_closing_gives_back_what_is_not_used_once():
    root = Budget(Limits(tokens=100), 0.0)
    child = root.share(Share("equal", among=2), 0.0)
    child.reserve(Spend(tokens=20))
    child.settle(Spend(tokens=20), Spend(tokens=15))

    for _ in range(2):
        child.close()
        assert (root.used, root.reserved, root.set_aside) == (Spend(tokens=15), Spend(), Spend())
    assert root.reserve(Spend(tokens=85)) is None


def test_closing_lets_go_of_what_is_still_reserved_below():
    root = Budget(Limits(tokens=100, tool_calls=9), 0.0)
    child = root.share(Share("equal", among=2), 0.0)
    grandchild = child.share(Share(), 0.0)
    child.reserve(Spend(tool_calls=1))
    grandchild.reserve(Spend(tokens=30))

    child.close()

    assert (root.used, root.reserved, root.set_aside) == (Spend(), Spend(), Spend())
    assert grandchild.reserve(Spend(tokens=1)) == Level("tokens", 0, 0)
    assert grandchild.share(Share(), 0.0).remaining_tokens() == 0


def test_what_comes_in_after_the_end_still_counts():
    root = Budget(Limits(tokens=100), 0.0)
    child = root.share(Share(), 0.0)
    child.reserve(Spend(tokens=30))
    child.close()
    root.reserve(Spend(tokens=10))

    child.settle(Spend(tokens=30), Spend(tokens=25))

    assert (root.used, root.reserved) == (Spend(tokens=25), Spend(tokens=10))


def test_a_closed_budget_grants_nothing_even_without_limits():
    budget = Budget(Limits(), 0.0, Spend(tokens=7))
    budget.close()

    assert budget.reserve(Spend(tokens=1)) == Level("tokens", 7, 7)
    assert budget.reserve(Spend(turns=1)) == Level("turns", 0, 0)
    assert budget.affordable_output(1, None, 10) is None


@pytest.mark.parametrize(
    "share",
    [
        Share("equal", among=0),
        Share("equal", among=-1),
        Share("proportional", weight=-1.0),
        Share("proportional", weight=2.0, weights=1.0),
        Share("proportional", weight=0.0, weights=0.0),
        Share("proportional", weight=math.nan),
        Share("proportional", weights=math.inf),
        Share("fixed", limits=Limits(tokens=-5)),
    ],
)
def test_what_is_no_part_cannot_be_a_share(share: Share):
    root = Budget(Limits(tokens=10), 0.0)

    with pytest.raises(UsageError):
        root.share(share, 0.0)
    assert root.remaining_tokens() == 10


# ---------------------------------------------------------------------------- after a crash


def test_what_a_child_has_used_before_counts_in_every_budget_above_once():
    root = Budget(Limits(tokens=100), 0.0, Spend(tokens=10))

    middle = root.take_up(Limits(tokens=50, turns=5), 0.0, Spend(tokens=20, turns=2), set_aside=False)
    leaf = middle.take_up(Limits(tokens=9), 0.0, Spend(tokens=5, tool_calls=1), set_aside=False)

    assert [one.used for one in (root, middle, leaf)] == [
        Spend(tokens=35, tool_calls=1),
        Spend(tokens=25, tool_calls=1, turns=2),
        Spend(tokens=5, tool_calls=1),
    ]
    assert [one.remaining_tokens() for one in (root, middle, leaf)] == [65, 25, 4]


def test_a_part_that_was_set_aside_is_so_again():
    root = Budget(Limits(tokens=100), 0.0)

    child = root.take_up(Limits(tokens=60, tool_calls=3), 0.0, Spend(tokens=20), set_aside=True)

    assert (root.remaining_tokens(), child.remaining_tokens()) == (40, 40)
    assert root.set_aside == Spend(tokens=40)
    child.close()
    assert root.remaining_tokens() == 80


@given(limits, spends, limits, spends, st.booleans())
def test_a_child_that_is_taken_up_has_what_it_would_have_without_the_crash(
    above: Limits, own: Spend, bounds: Limits, used: Spend, fixed: bool
):
    lived = Budget(above, 0.0, own)
    share = lived.share(Share("fixed" if fixed else "remaining", limits=bounds), 0.0)
    share.settle(Spend(), used)

    again = Budget(above, 0.0, own)
    child = again.take_up(share.limits, 0.0, used, set_aside=fixed)

    assert (again.used, child.used) == (lived.used, share.used)
    assert child.remaining_tokens() == share.remaining_tokens()
    assert again.remaining_tokens() == lived.remaining_tokens()
    assert again.set_aside == lived.set_aside
