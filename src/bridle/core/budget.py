"""What a run may use (Limits) and what it has left (Budget): reserve before spending, settle after.

The sub-agents of a run spend from its budget, so budgets form a tree (`budget_pool`). The tree shares tokens,
tool calls and cost. Turns and wall time are not shared: each budget counts its own, and a child's limits
are never looser than its parent's.
"""

import math
from typing import Literal, cast

from msgspec import Struct

from bridle.core.budget_pool import Pool
from bridle.core.errors import UsageError
from bridle.core.model import Price

BudgetKind = Literal["tokens", "duration", "tool_calls", "cost", "turns"]
SharePolicy = Literal["equal", "proportional", "fixed", "remaining"]

_SHARED = ("tokens", "tool_calls", "cost")

WARN_AT = 0.8  # share of a limit at which the user gets one warning

_PICO = 10**12  # parts of a dollar; costs are whole numbers of them, so that sums are exact
_MAX_DOLLARS = 1e15


class Limits(Struct, frozen=True, omit_defaults=True):
    """What a run may use; None means no limit."""

    tokens: int | None = None
    duration_s: float | None = None
    tool_calls: int | None = None
    cost: float | None = None
    turns: int | None = None

    def over(self, other: "Limits") -> "Limits":
        """Return these limits, with those of `other` where one is None."""
        return Limits(
            **{
                name: getattr(other, name) if getattr(self, name) is None else getattr(self, name)
                for name in self.__struct_fields__
            }
        )

    def check(self) -> None:
        """Raise UsageError for a limit that is negative, infinite or not a number."""
        for name in self.__struct_fields__:
            amount = getattr(self, name)
            if amount is not None and not 0 <= amount < math.inf:
                raise UsageError(f"{name}: {amount} is not a valid limit", hint="a number, 0 or more")


class Share(Struct, frozen=True):
    """The part of a parent's remaining budget that a child may use."""

    policy: SharePolicy = "remaining"
    weight: float = 1.0
    """Proportional: this child's weight, out of `weights`."""
    weights: float = 1.0
    """Proportional: the sum of the weights of all children that still get a share, this one included."""
    among: int = 1
    """Equal: how many children still get a share, this one included."""
    limits: Limits = Limits()
    """Fixed: the amounts; with any other policy, further upper bounds."""

    def check(self) -> None:
        """Raise UsageError if the limits, weights or counts cannot describe a share."""
        self.limits.check()
        if self.among < 1:
            raise UsageError(f"a budget cannot be shared among {self.among}", hint="1 or more")
        if not (0 <= self.weight <= self.weights < math.inf and self.weights > 0):
            raise UsageError(
                f"{self.weight:g} is not a valid weight among {self.weights:g}",
                hint="a number, 0 or more and at most the sum",
            )

    def part_of(self, left: int) -> int:
        """Return this share of `left`; all of it for the policies `fixed` and `remaining`."""
        if self.policy == "equal":
            return left // self.among
        if self.policy == "proportional":
            (weight, by), (weights, of) = self.weight.as_integer_ratio(), self.weights.as_integer_ratio()
            return left * weight * of // (by * weights)
        return left


class Spend(Struct, frozen=True):
    """An amount of every counted kind (wall time is measured instead)."""

    tokens: int = 0
    tool_calls: int = 0
    cost: float = 0.0
    turns: int = 0

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.tokens + other.tokens,
            self.tool_calls + other.tool_calls,
            self.cost + other.cost,
            self.turns + other.turns,
        )

    def __sub__(self, other: "Spend") -> "Spend":
        return Spend(
            self.tokens - other.tokens,
            self.tool_calls - other.tool_calls,
            self.cost - other.cost,
            self.turns - other.turns,
        )


class Level(Struct, frozen=True):
    """Use and limit of one kind of budget."""

    kind: BudgetKind
    used: float
    limit: float


class Budget:
    """Track the use of one run and its children against its limits.

    Invariant: when `reserve` grants an amount, the sum of open reservations, settled use and what is set
    aside for children stays within every limit. Settling may record more than was reserved (a model can
    answer longer than estimated): the excess counts in every budget above too, and once a limit is passed
    nothing more is granted.
    """

    def __init__(
        self, limits: Limits, started_s: float, used: Spend | None = None, *, warn_at: float = WARN_AT
    ) -> None:
        """Start from an earlier use; raises UsageError for limits that are not amounts."""
        limits.check()
        spent = _units(used or Spend())
        self.limits = limits
        self._started_s = started_s
        self._warn_at = warn_at
        self._warned: set[BudgetKind] = set()
        self._pool = Pool(_limited(limits), {kind: spent[kind] for kind in _SHARED})
        self._turns = Pool({} if limits.turns is None else {"turns": limits.turns}, {"turns": spent["turns"]})
        """A pool of their own, because turns are not shared."""

    @property
    def used(self) -> Spend:
        """Settled use, here and in all budgets below."""
        return _spend({**self._pool.used, **self._turns.used})

    @property
    def reserved(self) -> Spend:
        """Open reservations, here and in all budgets below."""
        return _spend({**self._pool.held, **self._turns.held})

    @property
    def set_aside(self) -> Spend:
        """What only the children may still reserve."""
        return _spend({"turns": 0, **{kind: self._pool.set_aside(kind) for kind in _SHARED}})

    # ------------------------------------------------------------------ spending

    def reserve(self, amount: Spend) -> Level | None:
        """Reserve an amount; return None if it fits, else the kind that has too little left."""
        units = _units(amount)
        turns = {"turns": units.pop("turns")}
        if blocked := self._pool.hold(units):
            return _level(*blocked)
        if blocked := self._turns.hold(turns):
            self._pool.settle(units, {})
            return _level(*blocked)
        return None

    def settle(self, reserved: Spend, actual: Spend) -> None:
        """Replace a reservation with the actual use, which counts even if the budget is closed by now."""
        held, used = _units(reserved), _units(actual)
        self._turns.settle({"turns": held.pop("turns")}, {"turns": used.pop("turns")})
        self._pool.settle(held, used)

    def affordable_output(self, input_tokens: int, price: Price | None, most: int) -> int | None:
        """Return how many output tokens the budget can pay for in addition to the input, at most `most`.

        None if not even one: then `reserve(most_spent(input_tokens, 1, price))` returns the limit that is
        the reason. If the price is unknown, a cost limit blocks only once it is used up.
        """
        fits = most
        tokens, cost = self._pool.left("tokens"), self._pool.left("cost")
        if tokens is not None:
            fits = min(fits, tokens - input_tokens)
        if cost is not None:
            per_input, per_output = _rates(input_tokens, price)
            rest = cost - per_input * input_tokens
            if cost == 0 or rest < 0:
                return None
            fits = min(fits, rest // per_output) if per_output else fits
        return fits if fits >= 1 else None

    # ------------------------------------------------------------------ sharing

    def share(self, share: Share, now_s: float) -> "Budget":
        """Create a child's budget; the caller closes it when the child ends. Raises UsageError."""
        share.check()
        wanted = _limited(share.limits)
        limit: dict[str, int] = {}
        owned: set[str] = set()
        for kind in _SHARED:
            left = self._pool.left(kind)
            is_part = share.policy in ("equal", "proportional") or (
                share.policy == "fixed" and kind in wanted
            )
            if left is not None and is_part:
                limit[kind] = min(share.part_of(left), wanted.get(kind, left))
                owned.add(kind)
            elif kind in wanted:
                limit[kind] = wanted[kind]
        turns = [most for most in (share.limits.turns, self.limits.turns) if most is not None]
        times = [
            time_s for time_s in (share.limits.duration_s, self.remaining_s(now_s)) if time_s is not None
        ]
        limits = Limits(
            tokens=limit.get("tokens"),
            duration_s=min(times, default=None),
            tool_calls=limit.get("tool_calls"),
            cost=limit["cost"] / _PICO if "cost" in limit else None,
            turns=min(turns, default=None),
        )
        child = Budget(limits, now_s, warn_at=self._warn_at)
        child._pool = self._pool.child(limit, frozenset(owned))
        return child

    def take_up(self, limits: Limits, started_s: float, used: Spend, *, set_aside: bool) -> "Budget":
        """Restore the budget of a child that used some of it before a crash; that use counts here too.

        With `set_aside`, only the child may use what is left of its limits, as with a share of the
        policies `equal`, `proportional` and `fixed`.
        """
        units = _units(used)
        child = Budget(limits, started_s, Spend(turns=used.turns), warn_at=self._warn_at)
        limit = _limited(limits)
        owned = [kind for kind in limit if set_aside and self._pool.left(kind) is not None]
        child._pool = self._pool.child(limit, frozenset(owned))
        child._pool.settle({}, {kind: units[kind] for kind in _SHARED})
        return child

    def close(self) -> None:
        """Return what is unused, here and below, to the parent, and grant nothing more. Idempotent."""
        self._pool.close()
        self._turns.close()

    # ------------------------------------------------------------------ what is left

    def levels(self, now_s: float) -> list[Level]:
        """Return the level of each kind that has a limit here."""
        found = {kind: _level(kind, self._pool) for kind in self._pool.limit}
        if self.limits.duration_s is not None:
            found["duration"] = Level("duration", now_s - self._started_s, self.limits.duration_s)
        if self.limits.turns is not None:
            found["turns"] = _level("turns", self._turns)
        return [
            found[kind] for kind in ("tokens", "duration", "tool_calls", "cost", "turns") if kind in found
        ]

    def exhausted(self, now_s: float) -> Level | None:
        """Return the first kind that is used up, here or in a budget above; None if there is none."""
        _, *above = self._pool.path()
        drawn_on = [_level(kind, pool) for pool in above for kind in pool.limit]
        return next((level for level in (*self.levels(now_s), *drawn_on) if level.used >= level.limit), None)

    def new_warnings(self, now_s: float) -> list[Level]:
        """Return the kinds that passed the warning share since the last call; each is returned only once."""
        fresh = [
            level
            for level in self.levels(now_s)
            if level.kind not in self._warned
            and level.limit > 0
            and level.used >= self._warn_at * level.limit
        ]
        self._warned.update(level.kind for level in fresh)
        return fresh

    def remaining_s(self, now_s: float) -> float | None:
        """Return the seconds of wall time left, or None without a limit."""
        if self.limits.duration_s is None:
            return None
        return max(0.0, self._started_s + self.limits.duration_s - now_s)

    def remaining_tokens(self) -> int | None:
        """Return the tokens that may still be reserved, or None without a limit."""
        return self._pool.left("tokens")

    def remaining_cost(self) -> float | None:
        """Return the dollars that may still be reserved, or None without a limit."""
        left = self._pool.left("cost")
        return None if left is None else left / _PICO


def max_spend(input_tokens: int, output_tokens: int, price: Price | None) -> Spend:
    """Return the most that one request can use, for `reserve`: all input at its highest price.

    The cost is above 0 even if the price is unknown, so that no request passes a cost limit that is 0 or
    used up.
    """
    per_input, per_output = _rates(input_tokens, price)
    cost = max(1, per_input * input_tokens + per_output * output_tokens)
    return Spend(tokens=input_tokens + output_tokens, cost=cost / _PICO, turns=1)


def _rates(input_tokens: int, price: Price | None) -> tuple[int, int]:
    """Return the highest price of one input and of one output token; 0 if the price is unknown."""
    if price is None:
        return 0, 0
    price = price.for_context(input_tokens)
    dearest = max(price.input, price.cache_read, price.cache_write)
    return _rate(dearest), _rate(price.output)


def _rate(dollars_per_million: float) -> int:
    return -(-_pico(dollars_per_million) // 1_000_000)


def _pico(dollars: float) -> int:
    return round(max(0.0, min(dollars, _MAX_DOLLARS)) * _PICO)


def _units(amount: Spend) -> dict[str, int]:
    return {
        "tokens": max(0, amount.tokens),
        "tool_calls": max(0, amount.tool_calls),
        "cost": _pico(amount.cost),
        "turns": max(0, amount.turns),
    }


def _limited(limits: Limits) -> dict[str, int]:
    """Return the limits of the shared kinds, cost in picodollars."""
    cost = None if limits.cost is None else _pico(limits.cost)
    found = {"tokens": limits.tokens, "tool_calls": limits.tool_calls, "cost": cost}
    return {kind: limit for kind, limit in found.items() if limit is not None}


def _spend(units: dict[str, int]) -> Spend:
    return Spend(units["tokens"], units["tool_calls"], units["cost"] / _PICO, units["turns"])


def _level(kind: str, pool: Pool) -> Level:
    """Return the level of a kind; a closed pool counts as used up."""
    used = pool.used[kind]
    limit = used if pool.is_closed else pool.limit[kind]
    scale = _PICO if kind == "cost" else 1
    return Level(
        cast(BudgetKind, kind), used / scale if scale > 1 else used, limit / scale if scale > 1 else limit
    )
