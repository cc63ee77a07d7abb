"""Figures are medians with a spread; rows and curves know whether their bar holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import Curve, Figure, Row, cannot, figure, number, ours, share_of_spread, short


def test_a_figure_is_the_median_and_says_how_far_half_of_the_rounds_lie_from_it():
    found = figure("peer", [0.004, 0.001, 0.002, 0.003, 0.1], scale=1e3, version="2", how="alone")

    assert found == Figure("peer", 3.0, spread=0.3333, rounds=5, version="2", how="alone")


def test_one_round_has_no_spread():
    assert ours([2.0]) == Figure("Bridle", 2.0, spread=0.0, rounds=1)


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=30), st.floats(1e-3, 1e3))
def test_the_spread_does_not_depend_on_the_unit(samples: list[float], scale: float):
    scaled = [sample * scale for sample in samples]

    assert share_of_spread(scaled) == pytest.approx(share_of_spread(samples), abs=1e-9)


def test_a_row_is_judged_by_its_ratio_to_the_best_that_can():
    others = (figure("slow", [4.0]), cannot("lame", "no tools"), figure("quick", [2.0]))
    row = Row("a", "a thing", "ms", ours([3.0]), others, bar=1.4)

    assert (row.best, row.score, row.holds) == (figure("quick", [2.0]), 1.5, False)


def test_a_row_without_others_is_judged_by_its_value():
    row = Row("a", "a thing", "ms", ours([3.0]), (cannot("lame", "no tools"),), bar=3.0)

    assert (row.best, row.score, row.holds) == (None, 3.0, True)


def test_a_row_without_a_bar_holds():
    assert Row("a", "a thing", "ms", ours([3.0])).holds


def test_the_spread_of_a_row_is_that_of_both_sides():
    row = Row("a", "a", "ms", Figure("Bridle", 1.0, 0.3), (Figure("peer", 1.0, 0.4),))

    assert row.spread == pytest.approx(0.5)


@given(st.floats(-1, 3), st.floats(1e-3, 1e3))
def test_a_curve_finds_the_power_that_it_was_made_from(power: float, factor: float):
    points = tuple((size, factor * size**power) for size in (10, 100, 1_000, 5_000))

    assert Curve("a", "a", "things", "ms", points, bar=1.0).score == pytest.approx(power, abs=1e-6)


def test_growth_at_the_end_is_not_hidden_by_a_flat_beginning():
    curve = Curve("a", "a", "things", "ms", ((10, 5.0), (100, 5.0), (1_000, 5.0), (10_000, 50.0)), bar=0.9)

    assert (round(curve.score, 6), curve.holds) == (1.0, False)


def test_what_falls_at_the_end_is_judged_by_all_points():
    curve = Curve("a", "a", "things", "ms", ((10, 1.0), (100, 10.0), (1_000, 9.0)), bar=0.4)

    assert (round(curve.score, 2), curve.holds) == (0.48, False)


@pytest.mark.parametrize(
    ("value", "written"),
    [(12345.6, "12,346"), (99.94, "99.9"), (1.234, "1.23"), (0.01234, "0.012"), (0.0, "0"), (-250.4, "-250")],
)
def test_numbers_have_as_many_digits_as_mean_something(value: float, written: str):
    assert number(value) == written


def test_what_is_kept_is_short():
    assert short(0.123456789) == 0.1235
