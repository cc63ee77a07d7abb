"""What has changed between two runs on the same kind of machine, beyond what their spread explains."""

from collections.abc import Iterable

import msgspec
from rows import Line, Row, short

MARGIN = 0.15
NOTHING = 0.05
"""A share of the bar below which a figure counts as nothing: a ratio of two such figures says nothing."""


class Change(msgspec.Struct, frozen=True):
    """A row or a curve that has become worse or better."""

    id: str
    what: str
    before: float
    now: float
    worse: bool

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.what}: {self.before:.3g} before, {self.now:.3g} now"


def changes(before: Iterable[Line], now: Iterable[Line]) -> list[Change]:
    """Return what has changed by more than 15 % beyond the spread of both; what is new has not changed."""
    known = {line.id: line for line in before}
    found = []
    for line in now:
        old = known.get(line.id)
        if old is None or type(old) is not type(line) or (by := _by(old, line)) == 0.0:
            continue
        found.append(Change(line.id, line.what, short(old.score), short(line.score), worse=by > 0))
    return found


def _by(old: Line, new: Line) -> float:
    """Return by how much a line is worse than it may be by chance; less than zero says better."""
    grown, noise = new.score - old.score, old.spread + new.spread
    if isinstance(new, Row):
        least = max(NOTHING * (new.bar or 0.0), 1e-9)
        ratio = max(new.score, least) / max(old.score, least)
        grown = ratio - 1 if ratio >= 1 else 1 - 1 / ratio
    return grown if abs(grown) > MARGIN + noise else 0.0
