"""Between two runs, only a difference larger than their spread counts as a change."""

import pytest
from report.compare import Change, changes
from rows import Curve, Figure, Line, Row


def row(value: float, *, spread: float = 0.0, bar: float | None = 10.0, name: str = "a") -> Row:
    return Row(name, "a thing", "ms", Figure("Bridle", value, spread), bar=bar)


def curve(end: float, *, spread: float = 0.0) -> Curve:
    return Curve("a", "a thing", "things", "ms", ((10, 1.0), (100, end)), 0.5, spread)


@pytest.mark.parametrize(
    ("before", "now", "worse"),
    [
        (row(1.0), row(1.2), True),
        (row(1.2), row(1.0), False),
        (row(1.0, bar=None), row(1.2, bar=None), True),
        (curve(1.0), curve(2.0), True),
        (curve(2.0), curve(1.0), False),
    ],
)
def test_what_is_much_worse_or_better_is_named(before: Line, now: Line, worse: bool):
    found = changes([before], [now])

    assert [(change.id, change.worse) for change in found] == [("a", worse)]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (row(1.0), row(1.14)),
        (row(1.14), row(1.0)),
        (row(1.0, spread=0.1), row(1.3, spread=0.1)),
        (row(0.001), row(0.4)),  # both next to nothing beside a bar of 10
        (row(-0.2), row(0.3)),
        (curve(1.0), curve(1.3)),
        (curve(1.0, spread=0.2), curve(2.0)),
        (row(1.0, name="b"), row(9.0)),
        (curve(1.0), row(9.0)),
    ],
)
def test_what_chance_may_have_done_is_not(before: Line, now: Line):
    assert changes([before], [now]) == []


def test_a_change_says_what_it_was_and_is():
    [change] = changes([row(1.0)], [row(2.0)])

    assert change == Change("a", "a thing", 1.0, 2.0, worse=True)
    assert str(change) == "a thing: 1 before, 2 now"


def test_a_ratio_is_compared_not_the_speed_of_the_day():
    def beside(own: float, bare: float) -> Row:
        return Row("a", "a thing", "ms", Figure("Bridle", own), (Figure("bare", bare),), 2.0)

    assert changes([beside(1.5, 1.0)], [beside(4.5, 3.0)]) == []
