"""Connections to the other workers of a cluster: one per worker, opened on demand."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from bridle.core.errors import BridleError
from bridle.core.session_api import SessionApi

CONNECT_S = 5.0


class PeerApi(SessionApi, Protocol):
    """The session API of another process."""

    @property
    def is_gone(self) -> bool:
        """True if the connection is lost."""
        ...


Connect = Callable[[str], Awaitable[PeerApi]]
"""Connects to an address and returns its session API; raises BridleError or OSError if it does not answer."""


class PeerConnections:
    """Keeps one connection per address."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._apis: dict[str, PeerApi] = {}
        self._reaching: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Prevents two connections to the same address."""

    async def api(self, address: str) -> SessionApi:
        """Return the session API at an address; raises OSError if there is no answer."""
        async with self._reaching[address]:
            api = self._apis.get(address)
            if api is None or api.is_gone:
                await self._drop(address)
                try:
                    async with asyncio.timeout(CONNECT_S):
                        api = await self._connect(address)
                except (BridleError, ValueError) as error:  # ValueError: an invalid address
                    raise ConnectionError(str(error)) from error
                self._apis[address] = api
            return api

    async def aclose(self) -> None:
        """Close all connections."""
        for address in list(self._apis):
            await self._drop(address)

    async def _drop(self, address: str) -> None:
        api = self._apis.pop(address, None)
        if api is not None:
            with suppress(BridleError, OSError):
                await api.aclose()
