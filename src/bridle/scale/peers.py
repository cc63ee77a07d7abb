"""The workers of a cluster, as others reach them: one connection to each, made when it is needed."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from bridle.core.door import Door
from bridle.core.errors import BridleError

CONNECT_S = 5.0


class PeerDoor(Door, Protocol):
    """The sessions of another process, as long as it is there."""

    @property
    def is_gone(self) -> bool:
        """Tell whether the connection is lost."""
        ...


Reach = Callable[[str], Awaitable[PeerDoor]]
"""From an address to the sessions there; raises BridleError or OSError when nobody answers."""


class Peers:
    """Keeps the connections."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._doors: dict[str, PeerDoor] = {}
        self._reaching: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """One connection is made to each at a time."""

    async def door(self, address: str) -> Door:
        """Return the sessions at an address; raises OSError when nobody answers."""
        async with self._reaching[address]:
            door = self._doors.get(address)
            if door is None or door.is_gone:
                await self._drop(address)
                try:
                    async with asyncio.timeout(CONNECT_S):
                        door = await self._reach(address)
                except (BridleError, ValueError) as error:  # what is no address is found out there
                    raise ConnectionError(str(error)) from error
                self._doors[address] = door
            return door

    async def aclose(self) -> None:
        """Hang up everywhere."""
        for address in list(self._doors):
            await self._drop(address)

    async def _drop(self, address: str) -> None:
        door = self._doors.pop(address, None)
        if door is not None:
            with suppress(BridleError, OSError):
                await door.aclose()
