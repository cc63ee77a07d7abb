"""Results of a bench: figures, the rows that contain them, and curves.

```
Row      Bridle's figure, those of others in the same unit, a bar    cell 38 µs, echo 25 µs: 1.5 of at most 2
Curve    Bridle's cost as something grows, a bar on its exponent     against sessions: n^0.02 of at most n^0.1
```

Less is always better: a rate (runs per second) is given as the cost of one. A row with other participants is
judged by its ratio to the best of them, a row without others by its own value.
"""

import math
import statistics
from collections.abc import Iterable, Sequence

import msgspec

US = "Bridle"


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one participant; made by `figure` and `cannot`."""

    who: str
    value: float | None
    """The median of all rounds, in the unit of the row; None if the participant cannot do this at all."""
    spread: float = 0.0
    """Half of the rounds are this close to the median, as a share of it."""
    rounds: int = 1
    version: str = ""
    how: str = ""
    """How it was configured, or why it has no value."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True, tag="row"):
    """One measured thing."""

    id: str
    """A stable name, such as `store.append.sqlite`; earlier runs and explanations are looked up by it."""
    what: str
    unit: str
    ours: Figure
    others: tuple[Figure, ...] = ()
    bar: float | None = None
    """The most that `score` may be; 1 means first among peers, and None means no limit."""
    note: str = ""

    @property
    def best(self) -> Figure | None:
        """Return the best of the others that have a value."""
        able = [one for one in self.others if one.value is not None]
        return min(able, key=lambda one: one.value or 0.0) if able else None

    @property
    def score(self) -> float:
        """Return the value that the bar limits: the ratio to the best of the others, or the value itself."""
        value, best = self.ours.value, self.best
        assert value is not None, f"{self.id}: Bridle has no value"
        return value if best is None else value / max(best.value or 0.0, 1e-12)

    @property
    def spread(self) -> float:
        """Return how uncertain the score is, as a share of it."""
        return math.hypot(self.ours.spread, self.best.spread if self.best else 0.0)

    @property
    def holds(self) -> bool:
        """Return whether the score is within the bar."""
        return self.bar is None or self.score <= self.bar


class Curve(msgspec.Struct, frozen=True, omit_defaults=True, tag="curve"):
    """The cost of something as something else grows."""

    id: str
    what: str
    against: str
    """What grows: `messages in the session`."""
    unit: str
    points: tuple[tuple[float, float], ...]
    """Sizes and costs, in the order of the sizes."""
    bar: float
    """The most that the exponent may be."""
    spread: float = 0.0
    note: str = ""

    @property
    def score(self) -> float:
        """Return the exponent: of all points or of the last two, whichever is greater.

        It is the slope of a line through logarithms. Fixed costs hide growth at first, hence the last two
        points.
        """
        sizes = [math.log(size) for size, _ in self.points]
        costs = [math.log(max(cost, 1e-12)) for _, cost in self.points]
        return max(
            statistics.linear_regression(sizes[first:], costs[first:]).slope for first in (0, len(sizes) - 2)
        )

    @property
    def holds(self) -> bool:
        """Return whether the score is within the bar."""
        return self.score <= self.bar


Line = Row | Curve


def figure(
    who: str, samples: Iterable[float], *, scale: float = 1.0, version: str = "", how: str = ""
) -> Figure:
    """Return the median of several rounds, each times `scale`, and their spread."""
    found = [sample * scale for sample in samples]
    middle, spread = statistics.median(found), share_of_spread(found)
    return Figure(who, short(middle), short(spread), len(found), version, how)


def ours(samples: Iterable[float], *, scale: float = 1.0, version: str = "", how: str = "") -> Figure:
    """Return Bridle's own figure."""
    return figure(US, samples, scale=scale, version=version, how=how)


def cannot(who: str, why: str, *, version: str = "") -> Figure:
    """Return the figure of a participant that cannot do this."""
    return Figure(who, None, 0.0, 0, version, why)


def share_of_spread(samples: Sequence[float]) -> float:
    """Return half of the interquartile range, as a share of the median."""
    middle = statistics.median(samples)
    if len(samples) < 2 or not middle:
        return 0.0
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / 2 / abs(middle)


def short(value: float) -> float:
    """Round a value to its significant digits, so that result files are readable."""
    return float(f"{value:.4g}")


def number(value: float) -> str:
    """Format a number with its significant digits."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.2g}"
