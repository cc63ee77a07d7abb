"""Whether a service can take requests: balancers ask every few seconds, and it is looked at once for all."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from bridle.core.errors import SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi

KEEP_S = 1.0  # what was found is told for so long, however many ask
LOOK_S = 2.0
DRAINING = "draining"

Check = Callable[[], Awaitable[None]]
"""Raises or hangs when something is wrong."""


class Readiness(Protocol):
    """Says whether requests can be taken."""

    async def failing(self) -> Sequence[str]:
        """Return the names of what is not in order; nothing when it is ready. Never raises."""
        ...


class Checks:
    """Looks at what a service needs; of what goes wrong only the name is told, as everybody may ask."""

    def __init__(
        self,
        checks: Mapping[str, Check],
        *,
        is_draining: Callable[[], bool] = lambda: False,
        look_s: float = LOOK_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the checks by name; `is_draining` says that no more work is wanted here."""
        self._checks = checks
        self._is_draining = is_draining
        self._look_s = look_s
        self._now = now
        self._looking = asyncio.Lock()  # one look at a time, or who asks often could keep the store busy
        self._found: tuple[str, ...] = ()
        self._until = float("-inf")

    async def failing(self) -> Sequence[str]:
        """Return what is not in order, as it was within the last second."""
        async with self._looking:
            if self._now() >= self._until:
                results = await asyncio.gather(*map(self._passes, self._checks.values()))
                named = zip(self._checks, results, strict=True)
                self._found = tuple(name for name, has_passed in named if not has_passed)
                self._until = self._now() + KEEP_S
        return (DRAINING, *self._found) if self._is_draining() else self._found

    async def _passes(self, check: Check) -> bool:
        try:
            async with asyncio.timeout(self._look_s):
                await check()
        except Exception:  # noqa: BLE001  whatever it is, it is not in order
            return False
        return True


def store_answers(api: SessionApi) -> Check:
    """Return a check that asks the store for a session that is not there."""

    async def check() -> None:
        with suppress(SessionNotFound):
            await api.ask(Records(SessionId("ready"), limit=1))

    return check
