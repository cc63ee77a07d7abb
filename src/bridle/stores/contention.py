"""Wait for a lock that another process holds, without stopping the event loop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bridle.core.errors import StoreError

T = TypeVar("T")

PATIENCE_S = 10.0
FIRST_WAIT_S = 0.0005  # a writer holds its lock for some 30 µs
LONGEST_WAIT_S = 0.05


async def when_free(
    attempt: Callable[[], T], busy: type[Exception], what: str, patience_s: float = PATIENCE_S
) -> T:
    """Return what `attempt` returns once it no longer raises `busy`; raises StoreError after the deadline.

    The first attempt is made at once and nothing is awaited when it succeeds. Neither SQLite's nor
    flock's own waiting is used: both would hold up every other session of this process.
    """
    try:
        return attempt()
    except busy:
        pass
    try:
        async with asyncio.timeout(patience_s):
            return await _retry(attempt, busy)
    except TimeoutError as error:
        raise StoreError(
            f"{what} was locked by another process for {patience_s:g} s",
            hint="stop the other process, or try again",
        ) from error


async def _retry(attempt: Callable[[], T], busy: type[Exception]) -> T:
    wait_s = FIRST_WAIT_S
    while True:
        await asyncio.sleep(wait_s)
        try:
            return attempt()
        except busy:
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
