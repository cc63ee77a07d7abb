"""A deterministic event loop: its time is simulated, and a seed decides which task runs next.

asyncio wakes tasks in the order in which they became ready, so a test sees one order of many. Here any that
is ready may come next, as if the others' input had been later by a moment; a wait costs no time. Threads are
not used: what would run in one runs at once.
"""

import asyncio
import random
import selectors
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stuck(AssertionError):
    """Nothing is ready, and nothing will be."""


class _Selector(selectors.DefaultSelector):
    """Does not wait: the time of its loop goes on instead."""

    loop: "ShuffledLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck("all tasks wait, and for nothing that could still come")
        self.loop.now_s += max(0.0, timeout)
        return super().select(0)


class ShuffledLoop(asyncio.SelectorEventLoop):
    """Runs one of the ready callbacks at a time, chosen by a seed."""

    def __init__(self, seed: int) -> None:
        self.now_s = 0.0
        self.steps = 0
        self.random = random.Random(seed)
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        """Return made-up time."""
        return self.now_s

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Do it at once, and report it a little later."""
        done = self.create_future()
        try:
            self.call_soon(_settle, done, func(*args), None)
        except Exception as error:  # noqa: BLE001  it is raised where it is waited for
            self.call_soon(_settle, done, None, error)
        return done

    def _run_once(self) -> None:
        ready = self._ready  # type: ignore[has-type]
        others: list[Any] = []
        if len(ready) > 1:
            others = list(ready)
            chosen = others.pop(self.random.randrange(len(others)))
            ready.clear()
            ready.append(chosen)
        self.steps += 1
        super()._run_once()  # type: ignore[misc]
        self._ready: deque[Any] = ready
        ready.extendleft(reversed(others))


def _settle(done: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if done.done():
        return
    if error is not None:
        done.set_exception(error)
    else:
        done.set_result(result)


def run_shuffled(seed: int, main: Callable[[random.Random], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end in the order that a seed gives; it may take chances of the same seed."""
    with asyncio.Runner(loop_factory=lambda: ShuffledLoop(seed)) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, ShuffledLoop)
        return runner.run(main(loop.random))
