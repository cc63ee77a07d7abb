"""Readiness checks: load balancers ask every few seconds, and one check serves all of them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from bridle.core.errors import SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi

KEEP_S = 1.0  # how long a result is cached
LOOK_S = 2.0
DRAINING = "draining"

Check = Callable[[], Awaitable[None]]
"""Raises or hangs if something is wrong."""


class Readiness(Protocol):
    """Decides whether requests can be accepted."""

    async def failing(self) -> Sequence[str]:
        """Return the names of failing checks; none if the service is ready. Never raises."""
        ...


class Checks:
    """Runs the checks of a service; only the names of failing ones are reported, since `/ready` is public."""

    def __init__(
        self,
        checks: Mapping[str, Check],
        *,
        is_draining: Callable[[], bool] = lambda: False,
        look_s: float = LOOK_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the checks by name; `is_draining` returns True if no more work is wanted here."""
        self._checks = checks
        self._is_draining = is_draining
        self._look_s = look_s
        self._now = now
        self._looking = asyncio.Lock()  # one check at a time, so that requests cannot overload the store
        self._found: tuple[str, ...] = ()
        self._until = float("-inf")

    async def failing(self) -> Sequence[str]:
        """Return the names of failing checks, at most `KEEP_S` old."""
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


def store_check(api: SessionApi) -> Check:
    """Return a check that asks the store for a session that does not exist."""

    async def check() -> None:
        with suppress(SessionNotFound):
            await api.ask(Records(SessionId("ready"), limit=1))

    return check
