"""The single thread that owns memory's file."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from bridle.core.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")


class Worker:
    """Runs blocking functions in one thread, one after the other."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="bridle-memory")
        self._is_closed = False

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function and return its result; cancelling the wait does not stop the function.

        Raises StoreError after `aclose`.
        """
        if self._is_closed:
            raise StoreError("memory is closed")
        return await asyncio.wrap_future(self._pool.submit(work, *args, **kwargs))

    async def aclose(self, last: Callable[[], None]) -> None:
        """Run a last function after the pending ones, and end the thread."""
        if not self._is_closed:
            self._is_closed = True
            future = self._pool.submit(last)
            self._pool.shutdown(wait=False)
            await asyncio.wrap_future(future)
