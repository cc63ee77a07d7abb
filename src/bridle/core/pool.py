"""Whole numbers of a few kinds, spent by a tree of spenders that can never claim the same part twice.

```
limit ├── used ──┼── held ──┼── set aside ──┼── left ──┤
        settled,   reserved,  shares of       may be held
        here and   here and   children, not   here, or
        below      below      claimed yet     shared out
```

A share that is set aside belongs to its child alone, until the child is closed. A child without one
competes with everybody else for what is left above it.
"""

from collections.abc import Iterator, Mapping

Units = Mapping[str, int]


class Pool:
    """One spender's part: its limits, what it has used and holds, and its children."""

    def __init__(self, limit: Units, used: Units) -> None:
        self.limit = dict(limit)
        """By kind; a kind that is not here has none."""
        self.used = dict(used)
        self.held = dict.fromkeys(used, 0)
        self.own = dict.fromkeys(used, 0)
        """What is held here; `held` has what is held below too."""
        self.owned: frozenset[str] = frozenset()
        """The kinds whose limit is set aside above."""
        self.parent: Pool | None = None
        self.children: list[Pool] = []
        self.is_closed = False

    def child(self, limit: Units, owned: frozenset[str]) -> "Pool":
        """Add a child, with the limits of the owned kinds set aside for it."""
        child = Pool(limit, dict.fromkeys(self.used, 0))
        child.parent, child.owned, child.is_closed = self, owned, self.is_closed
        self.children.append(child)
        return child

    def hold(self, units: Units) -> "tuple[str, Pool] | None":
        """Hold units of several kinds, or none: then say of which kind there is too little, and where."""
        for kind, amount in units.items():
            if not amount:
                continue
            left, where = self.tightest(kind)
            if left is not None and amount > left:
                return kind, where
        _add(self.own, units)
        for pool in self.path():
            _add(pool.held, units)
        return None

    def settle(self, held: Units, used: Units) -> None:
        """Let go of what was held, as far as it still is, and count what was used, here and above."""
        freed = {kind: -min(amount, self.own[kind]) for kind, amount in held.items()}
        _add(self.own, freed)
        for pool in self.path():
            _add(pool.held, freed)
            _add(pool.used, used)

    def close(self) -> None:
        """Give back all that is not used, here and below; from now on nothing is left. Twice is once."""
        if self.is_closed:
            return
        self.is_closed = True
        for child in tuple(self.children):
            child.close()
        self.settle(self.own.copy(), {})
        if self.parent is not None:
            self.parent.children.remove(self)

    def left(self, kind: str) -> int | None:
        """Return how much may still be held or shared out; None when nothing limits it."""
        return self.tightest(kind)[0]

    def tightest(self, kind: str) -> "tuple[int | None, Pool]":
        """Return how much is left, and who on the way up has no more.

        Above a share that was set aside only what is used and held stands in its way, not the shares:
        it is one of them. Somebody may have used more than was held.
        """
        if self.is_closed:
            return 0, self
        least: int | None = None
        where = self
        is_set_aside = False
        for pool in self.path():
            if kind in pool.limit:
                taken = pool.used[kind] + pool.held[kind] + (0 if is_set_aside else pool.set_aside(kind))
                left = max(0, pool.limit[kind] - taken)
                if least is None or left < least:
                    least, where = left, pool
            is_set_aside = is_set_aside or kind in pool.owned
        return least, where

    def set_aside(self, kind: str) -> int:
        """Return what the children may still claim and nobody else may."""
        return sum(child.claims(kind) for child in self.children)

    def claims(self, kind: str) -> int:
        """Return what this child keeps from the others, beside what it uses and holds."""
        if kind not in self.owned:
            return self.set_aside(kind)
        return max(0, self.limit[kind] - self.used[kind] - self.held[kind])

    def path(self) -> "Iterator[Pool]":
        """Yield this one and all above it."""
        pool: Pool | None = self
        while pool is not None:
            yield pool
            pool = pool.parent


def _add(units: dict[str, int], more: Units) -> None:
    for kind, amount in more.items():
        units[kind] += amount
