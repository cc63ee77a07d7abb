"""Who lives, as it was known a moment ago: asked often, read seldom."""

import time
from collections.abc import Callable
from typing import Protocol

from bridle.core.errors import StoreError
from bridle.scale.members import Member

FRESH_S = 1.0
UNKNOWN_S = 0.1  # for somebody who may just have come


class Book(Protocol):
    """Where it stands who lives."""

    async def living(self) -> list[Member]:
        """Return who lives; raises StoreError."""
        ...


class Roster:
    """The members of a cluster, read anew at most once a second."""

    def __init__(self, members: Book, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._members = members
        self._monotonic_s = monotonic_s
        self._known: dict[str, Member] = {}
        self._read_s = float("-inf")

    async def all(self) -> list[Member]:
        """Return who lives; while the database is away, who lived before. Raises StoreError if unknown."""
        if self._monotonic_s() - self._read_s >= FRESH_S:
            try:
                self._known = {member.id: member for member in await self._members.living()}
            except StoreError:
                if not self._known:
                    raise
            self._read_s = self._monotonic_s()
        return list(self._known.values())

    async def find(self, worker: str) -> Member | None:
        """Return a member by its name; None for one that does not live."""
        if worker not in self._known and self._monotonic_s() - self._read_s >= UNKNOWN_S:
            self._read_s = float("-inf")
        return next((member for member in await self.all() if member.id == worker), None)

    async def workers(self) -> list[Member]:
        """Return those that run sessions, the ones that are about to stop last."""
        found = [member for member in await self.all() if member.address]
        return sorted(found, key=lambda member: member.draining)
