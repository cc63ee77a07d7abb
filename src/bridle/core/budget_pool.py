"""Budget pools: whole amounts of a few kinds, shared by a tree in which no unit is granted twice.

```
limit ├── used ──┼── held ──┼── set aside ──┼── left ──┤
        settled,   reserved,  shares of       can be held
        here and   here and   children, not   here or given
        below      below      claimed yet     to a child
```

A share that is set aside belongs to its child alone until the child is closed. A child without such a share
competes with all others for what is left above it.
"""

from collections.abc import Iterator, Mapping

Units = Mapping[str, int]


class Pool:
    """One node of the tree: its limits, its used and held units, and its children."""

    def __init__(self, limit: Units, used: Units) -> None:
        self.limit = dict(limit)
        """By kind; a kind that is missing has no limit."""
        self.used = dict(used)
        self.held = dict.fromkeys(used, 0)
        self.own = dict.fromkeys(used, 0)
        """Held by this node itself; `held` also includes the nodes below."""
        self.owned: frozenset[str] = frozenset()
        """The kinds whose limit is set aside in the parent."""
        self.parent: Pool | None = None
        self.children: list[Pool] = []
        self.is_closed = False

    def child(self, limit: Units, owned: frozenset[str]) -> "Pool":
        """Add a child; set aside the limits of the owned kinds for it."""
        child = Pool(limit, dict.fromkeys(self.used, 0))
        child.parent, child.owned, child.is_closed = self, owned, self.is_closed
        self.children.append(child)
        return child

    def hold(self, units: Units) -> "tuple[str, Pool] | None":
        """Hold units of several kinds, all or none; if none, return the kind that lacks units, and where."""
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
        """Release what is still held of `held` and count `used`, here and above."""
        freed = {kind: -min(amount, self.own[kind]) for kind, amount in held.items()}
        _add(self.own, freed)
        for pool in self.path():
            _add(pool.held, freed)
            _add(pool.used, used)

    def close(self) -> None:
        """Return all unused units, here and below; after that nothing is left. Idempotent."""
        if self.is_closed:
            return
        self.is_closed = True
        for child in tuple(self.children):
            child.close()
        self.settle(self.own.copy(), {})
        if self.parent is not None:
            self.parent.children.remove(self)

    def left(self, kind: str) -> int | None:
        """Return how much can still be held or given to a child; None without a limit."""
        return self.tightest(kind)[0]

    def tightest(self, kind: str) -> "tuple[int | None, Pool]":
        """Return how much is left, and the node on the way up that is the reason.

        Above a share that was set aside, only used and held units reduce what is left, not the shares set
        aside there: this share is one of them. A node may have used more than it held.
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
        """Return what only the children may still hold."""
        return sum(child.claims(kind) for child in self.children)

    def claims(self, kind: str) -> int:
        """Return what is reserved for this child, besides what it has used and holds."""
        if kind not in self.owned:
            return self.set_aside(kind)
        return max(0, self.limit[kind] - self.used[kind] - self.held[kind])

    def path(self) -> "Iterator[Pool]":
        """Yield this node and all above it."""
        pool: Pool | None = self
        while pool is not None:
            yield pool
            pool = pool.parent


def _add(units: dict[str, int], more: Units) -> None:
    for kind, amount in more.items():
        units[kind] += amount
