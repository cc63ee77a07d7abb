"""Two participants with separate homes, who trust each other."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from bridle.comms.address import parse_address
from bridle.comms.hub import Comms, CommsOptions, Registry
from bridle.comms.trust import Peer
from bridle.core.ids import uuid7


def new_id() -> str:
    """Return a fresh id."""
    return uuid7(time.time_ns() // 1_000_000, os.urandom(10))


def make_comms(home: Path, registry: Registry | None = None, **options: object) -> Comms:
    """Make a participant; by default, it fails fast."""
    return Comms(CommsOptions(home=home, **{"ack_s": 10.0, **options}), new_id, registry)  # type: ignore[arg-type]


async def trust_each_other(one: Comms, one_address: str, other: Comms, other_address: str) -> None:
    """Let two know each other as `one` and `other`."""
    one.trust.add(Peer("other", (await other.identity()).public, parse_address(other_address)))
    other.trust.add(Peer("one", (await one.identity()).public, parse_address(one_address)))


class Delivered:
    """Accepts deliveries, and lets a test wait for them."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def __call__(self, text: str, peer: str) -> bool:
        await self._queue.put((text, peer))
        return True

    async def next(self) -> tuple[str, str]:
        """Wait for the next delivery."""
        return await self._queue.get()

    @property
    def is_empty(self) -> bool:
        """Return whether the inbox is empty."""
        return self._queue.empty()


@pytest.fixture
def delivered() -> Delivered:
    """Return a target for deliveries."""
    return Delivered()
