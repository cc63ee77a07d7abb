"""A short-lived cache of the living members of a cluster."""

import time
from collections.abc import Callable
from typing import Protocol

from bridle.core.errors import StoreError
from bridle.scale.members import Member

FRESH_S = 1.0
UNKNOWN_S = 0.1  # for a member that may just have joined


class MemberSource(Protocol):
    """The source of the living members."""

    async def list_living(self) -> list[Member]:
        """Return the living members; raises StoreError."""
        ...


class MemberCache:
    """The members of a cluster, reread at most once a second."""

    def __init__(self, members: MemberSource, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._members = members
        self._monotonic_s = monotonic_s
        self._known: dict[str, Member] = {}
        self._read_s = float("-inf")

    async def all(self) -> list[Member]:
        """Return the living members, in an outage the last known; raises StoreError if none are known."""
        if self._monotonic_s() - self._read_s >= FRESH_S:
            try:
                self._known = {member.id: member for member in await self._members.list_living()}
            except StoreError:
                if not self._known:
                    raise
            self._read_s = self._monotonic_s()
        return list(self._known.values())

    async def find(self, worker: str) -> Member | None:
        """Return a member by its id; None if it is not living."""
        if worker not in self._known and self._monotonic_s() - self._read_s >= UNKNOWN_S:
            self._read_s = float("-inf")
        return next((member for member in await self.all() if member.id == worker), None)

    async def reread(self) -> None:
        """Read the members now, also those that joined a moment ago; keeps the last known in an outage."""
        self._read_s = float("-inf")
        await self.all()

    async def workers(self) -> list[Member]:
        """Return the members that run sessions; those about to stop come last."""
        found = [member for member in await self.all() if member.address]
        return sorted(found, key=lambda member: member.draining)
