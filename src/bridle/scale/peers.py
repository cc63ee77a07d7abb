"""Connections to the other workers of a cluster: one each, opened on demand."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from bridle.core.door import Door
from bridle.core.errors import BridleError

CONNECT_S = 5.0


class PeerDoor(Door, Protocol):
    """The session API of another process, usable while that process lives."""

    @property
    def is_gone(self) -> bool:
        """True once the connection is lost."""
        ...


Reach = Callable[[str], Awaitable[PeerDoor]]
"""Connects to an address and returns its session API; raises BridleError or OSError if it does not answer."""


class Peers:
    """Keeps one connection per address."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._doors: dict[str, PeerDoor] = {}
        self._reaching: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Prevents two connections to the same address."""

    async def door(self, address: str) -> Door:
        """Return the session API at an address; raises OSError if it does not answer."""
        async with self._reaching[address]:
            door = self._doors.get(address)
            if door is None or door.is_gone:
                await self._drop(address)
                try:
                    async with asyncio.timeout(CONNECT_S):
                        door = await self._reach(address)
                except (BridleError, ValueError) as error:  # ValueError: an invalid address
                    raise ConnectionError(str(error)) from error
                self._doors[address] = door
            return door

    async def aclose(self) -> None:
        """Close all connections."""
        for address in list(self._doors):
            await self._drop(address)

    async def _drop(self, address: str) -> None:
        door = self._doors.pop(address, None)
        if door is not None:
            with suppress(BridleError, OSError):
                await door.aclose()
