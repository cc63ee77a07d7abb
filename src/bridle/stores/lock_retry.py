"""Wait for a lock that another process holds, without blocking the event loop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from bridle.core.errors import StoreError

T = TypeVar("T")

PATIENCE_S = 10.0
FIRST_WAIT_S = 0.0005  # a writer holds its lock for some 30 µs
LONGEST_WAIT_S = 0.05


async def retry_while_locked(
    attempt: Callable[[], T], busy: type[Exception], what: str, patience_s: float = PATIENCE_S
) -> T:
    """Call `attempt` until it no longer raises `busy`, and return its result; raises StoreError on timeout.

    The first attempt is immediate, and nothing is awaited if it succeeds. This uses neither SQLite's nor
    flock's own waiting, because both would block every other session of this process.
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
