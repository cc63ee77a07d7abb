"""Changes between two runs on the same kind of machine that are larger than their spread."""

from collections.abc import Iterable

import msgspec
from rows import Line, Row, short

MARGIN = 0.15
NOTHING = 0.05
"""A share of the bar below which a figure counts as zero: the ratio of two such figures has no meaning."""


class Change(msgspec.Struct, frozen=True):
    """A row or a curve that became worse or better."""

    id: str
    what: str
    before: float
    now: float
    worse: bool

    def __str__(self) -> str:
        """Return one line of text."""
        return f"{self.what}: {self.before:.3g} before, {self.now:.3g} now"


def changes(before: Iterable[Line], now: Iterable[Line]) -> list[Change]:
    """Return the lines that changed by more than 15 % plus the spread of both; new lines are no change."""
    known = {line.id: line for line in before}
    found = []
    for line in now:
        old = known.get(line.id)
        if old is None or type(old) is not type(line) or (by := _by(old, line)) == 0.0:
            continue
        found.append(Change(line.id, line.what, short(old.score), short(line.score), worse=by > 0))
    return found


def _by(old: Line, new: Line) -> float:
    """Return how much worse a line is, or 0 if chance explains it; below zero means better."""
    grown, noise = new.score - old.score, old.spread + new.spread
    if isinstance(new, Row):
        least = max(NOTHING * (new.bar or 0.0), 1e-9)
        ratio = max(new.score, least) / max(old.score, least)
        grown = ratio - 1 if ratio >= 1 else 1 - 1 / ratio
    return grown if abs(grown) > MARGIN + noise else 0.0
