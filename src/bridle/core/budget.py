"""What a run may use (Limits) and what it has left (Budget): reserve before spending, settle after."""

from typing import Literal

from msgspec import Struct

BudgetKind = Literal["tokens", "duration", "tool_calls", "cost", "turns"]
SharePolicy = Literal["equal", "proportional", "fixed", "remaining"]

_COUNTED: tuple[BudgetKind, ...] = ("tokens", "tool_calls", "cost")

WARN_AT = 0.8  # share of a limit at which the user is warned once


class Limits(Struct, frozen=True, omit_defaults=True):
    """What a run may use; None means no limit."""

    tokens: int | None = None
    duration_s: float | None = None
    tool_calls: int | None = None
    cost: float | None = None
    turns: int | None = None
    """Enforced by the loop, which ends the run with the outcome "limit"."""

    def over(self, other: "Limits") -> "Limits":
        """Return these limits with `other` filling the gaps."""
        return Limits(
            **{
                name: getattr(other, name) if getattr(self, name) is None else getattr(self, name)
                for name in self.__struct_fields__
            }
        )


class Share(Struct, frozen=True):
    """Which part of what its parent has left a child may use."""

    policy: SharePolicy = "remaining"
    weight: float = 1.0
    """Proportional: its weight among `weights`."""
    weights: float = 1.0
    """Proportional: the sum of all weights."""
    among: int = 1
    """Equal: how many share."""
    limits: Limits = Limits()
    """Fixed: the amounts; with another policy they bound it further."""


class Spend(Struct, frozen=True):
    """An amount in every kind that is counted (wall time is measured instead)."""

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
    """How full one kind of budget is."""

    kind: BudgetKind
    used: float
    limit: float


class Budget:
    """Track one run's use against its limits.

    Invariant: what was granted by `reserve` and not yet settled, plus what was settled, never
    exceeds a limit at the moment of granting. Settling may record more than was reserved (a model
    can answer longer than estimated); then nothing further is granted.
    """

    def __init__(self, limits: Limits, started_s: float, used: Spend | None = None) -> None:
        self.limits = limits
        self.used = used or Spend()
        self.reserved = Spend()
        self._started_s = started_s
        self._warned: set[BudgetKind] = set()

    def reserve(self, amount: Spend) -> Level | None:
        """Set an amount aside; return None when it fits, else the kind that stands in the way."""
        planned = self.used + self.reserved + amount
        for kind in _COUNTED:
            limit = getattr(self.limits, kind)
            if limit is not None and getattr(amount, kind) > 0 and getattr(planned, kind) > limit:
                return Level(kind, getattr(self.used, kind), limit)
        self.reserved = self.reserved + amount
        return None

    def settle(self, reserved: Spend, actual: Spend) -> None:
        """Turn a reservation into what was really used."""
        self.reserved = self.reserved - reserved
        self.used = self.used + actual

    def levels(self, now_s: float) -> list[Level]:
        """Return how full each limited kind is."""
        amounts = {
            "tokens": self.used.tokens,
            "duration": now_s - self._started_s,
            "tool_calls": self.used.tool_calls,
            "cost": self.used.cost,
        }
        limits: dict[BudgetKind, float | None] = {
            "tokens": self.limits.tokens,
            "duration": self.limits.duration_s,
            "tool_calls": self.limits.tool_calls,
            "cost": self.limits.cost,
        }
        return [Level(kind, amounts[kind], limit) for kind, limit in limits.items() if limit is not None]

    def exhausted(self, now_s: float) -> Level | None:
        """Return the first kind that is used up, if any."""
        return next((level for level in self.levels(now_s) if level.used >= level.limit), None)

    def new_warnings(self, now_s: float) -> list[Level]:
        """Return the kinds that passed the warning share since the last call, each once."""
        fresh = [
            level
            for level in self.levels(now_s)
            if level.kind not in self._warned and level.limit > 0 and level.used >= WARN_AT * level.limit
        ]
        self._warned.update(level.kind for level in fresh)
        return fresh

    def remaining_s(self, now_s: float) -> float | None:
        """Return the wall time left, or None without a limit."""
        if self.limits.duration_s is None:
            return None
        return max(0.0, self._started_s + self.limits.duration_s - now_s)

    def remaining_tokens(self) -> int | None:
        """Return the tokens neither used nor reserved, or None without a limit."""
        if self.limits.tokens is None:
            return None
        return max(0, self.limits.tokens - self.used.tokens - self.reserved.tokens)
