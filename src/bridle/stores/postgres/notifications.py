"""Notify other nodes of changes: rarely, in batches, and never as part of a write.

A notification says only that there is something to read. A lost one costs time, nothing else.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bridle.core.errors import StoreError

RECORDS = "bridle_records"
"""`session seq`: the session has records up to this one."""
CLAIMS = "bridle_claims"
"""`session worker`: the worker holds the session now; an empty worker means that the session is free."""

PAUSE_S = 0.005  # changes during this time go out together
MAX_WAITING = 10_000  # beyond this, notifications are dropped


class Notifier:
    """Collects notifications and sends them from a background task that runs while there are any."""

    def __init__(self, send: Callable[[str, list[str]], Awaitable[None]]) -> None:
        """`send` sends the payloads of a channel; if it raises StoreError, they are lost."""
        self._send = send
        self._waiting: dict[tuple[str, str], str] = {}
        self._task: asyncio.Task[None] | None = None

    def tell(self, channel: str, subject: str, word: str) -> None:
        """Send `subject word` soon; a newer word about the same subject replaces it."""
        if len(self._waiting) < MAX_WAITING:
            self._waiting[channel, subject] = word
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def aclose(self) -> None:
        """Send what is pending, for at most one second: the database may be unreachable."""
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
