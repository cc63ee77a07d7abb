"""Tell other nodes that something changed: seldom, all at once, and never as part of a write.

A notification says only that there is something to read. One that is lost costs time, nothing else.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bridle.core.errors import StoreError

RECORDS = "bridle_records"
"""`session seq`: the session has records up to this one."""
CLAIMS = "bridle_claims"
"""`session worker`: the worker holds the session now; no worker means that nobody does."""

PAUSE_S = 0.005  # what changes meanwhile is told together
MAX_WAITING = 10_000  # beyond it news are dropped


class Teller:
    """Collects news and sends them from a task of its own, which lives while there are any."""

    def __init__(self, send: Callable[[str, list[str]], Awaitable[None]]) -> None:
        """Take how the payloads of a channel are sent; it may raise StoreError: then they are lost."""
        self._send = send
        self._waiting: dict[tuple[str, str], str] = {}
        self._task: asyncio.Task[None] | None = None

    def tell(self, channel: str, subject: str, word: str) -> None:
        """Send `subject word` soon; a newer word about the same replaces it."""
        if len(self._waiting) < MAX_WAITING:
            self._waiting[channel, subject] = word
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def aclose(self) -> None:
        """Send what waits, but do not wait for a database that is away."""
        if self._task is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._task

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(PAUSE_S)
            news, self._waiting = self._waiting, {}
            for channel in {channel for channel, _ in news}:
                payloads = [f"{subject} {word}" for (at, subject), word in news.items() if at == channel]
                with suppress(StoreError):
                    await self._send(channel, payloads)
