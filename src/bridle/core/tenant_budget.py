"""Tenant budgets: each run's limits are cut to what the tenant has left, so that all runs together fit.

```
limit of the month ├── used by runs that ended ──┼── set aside for runs ──┼── left ──┤
limit of the day   ├── …                                                             ┤
```

Days and months are in UTC, by one clock. A run counts for the day and month in which it began. Dollars are
counted in whole billionths, so that sums are exact.
"""

import math
from typing import TypeVar

from msgspec import Struct

from bridle.core.budget import Limits, Spend
from bridle.core.errors import BudgetSpent
from bridle.core.ids import RunId, SessionId
from bridle.core.tenancy import TenantLimits

NANO = 10**9
MAX_AMOUNT = 2**62
DEFAULT_SHARE = 10
"""A run without its own limits gets at most 1/10 of a period's limit, so that other runs fit beside it."""

N = TypeVar("N", int, float)


class Amount(Struct, frozen=True):
    """Tokens and billionths of a dollar."""

    tokens: int = 0
    nano: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens + other.tokens, self.nano + other.nano)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens - other.tokens, self.nano - other.nano)


class Reservation(Struct, frozen=True):
    """The amount set aside for a run."""

    session: SessionId
    run_id: RunId
    held: Amount


class GrantedLimits(Struct, frozen=True):
    """The limits that a run gets."""

    limits: Limits
    held: Amount
    """The amount to set aside."""


def to_amount(used: Spend) -> Amount:
    """Return a use as an amount, rounded up."""
    return Amount(min(MAX_AMOUNT, max(0, used.tokens)), to_nanodollars(used.cost))


def to_nanodollars(dollars: float) -> int:
    """Return dollars in whole billionths, rounded up."""
    return (
        math.ceil(min(MAX_AMOUNT, max(0.0, dollars) * NANO - 1e-6)) if math.isfinite(dollars) else MAX_AMOUNT
    )


def cut_limits(
    tenant: str, limits: TenantLimits, wanted: Limits, day: Amount, month: Amount
) -> GrantedLimits:
    """Cut a run's limits to what is left of the day and the month; raises BudgetSpent if nothing is left.

    `day` and `month` are the amounts already used or set aside.
    """
    own_tokens = _or_less(wanted.tokens, limits.run.tokens)
    tokens = _part(
        own_tokens,
        (("day", limits.day.tokens, day.tokens), ("month", limits.month.tokens, month.tokens)),
        f"tenant {tenant}: its tokens of this",
    )
    costs = [None if cost is None else to_nanodollars(cost) for cost in (limits.day.cost, limits.month.cost)]
    own = _or_less(wanted.cost, limits.run.cost)
    cost = _part(
        None if own is None else to_nanodollars(own),
        (("day", costs[0], day.nano), ("month", costs[1], month.nano)),
        f"tenant {tenant}: its dollars of this",
    )
    cut = Limits(
        tokens=own_tokens if tokens is None else tokens,
        duration_s=_or_less(wanted.duration_s, limits.run.duration_s),
        tool_calls=_or_less(wanted.tool_calls, limits.run.tool_calls),
        cost=own if cost is None else cost / NANO,
        turns=_or_less(wanted.turns, limits.run.turns),
    )
    return GrantedLimits(cut, Amount(tokens or 0, cost or 0))


def _part(own: int | None, periods: tuple[tuple[str, int | None, int], ...], what: str) -> int | None:
    """Return how much of a kind a run gets; None if no period limits it."""
    limited = [(name, limit, taken) for name, limit, taken in periods if limit is not None]
    if not limited:
        return None
    most = MAX_AMOUNT if own is None else own
    for name, limit, taken in limited:
        left = limit - taken
        if left <= 0:
            raise BudgetSpent(
                f"{what} {name} are used up or reserved by active runs",
                hint="wait for those runs or for the next period, or raise the limit: bridle tenant set",
            )
        most = min(most, left)
        if own is None:
            most = min(most, max(1, limit // DEFAULT_SHARE))
    return most


def _or_less(one: N | None, other: N | None) -> N | None:
    """Return the tighter of two limits."""
    return min((limit for limit in (one, other) if limit is not None), default=None)
