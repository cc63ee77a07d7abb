"""Blocking functions of the embedding program, each in a thread of its own."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from inspect import iscoroutinefunction
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Run a blocking function and return what it does; who is cancelled no longer waits for it.

    Not in the loop's own pool: a few functions that wait for a person would leave the engine no threads, and
    a program could not end before they do.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)  # type: ignore[arg-type]  # it is what the work gave

    def perform() -> None:
        value: T | None = None
        error: Exception | None = None
        try:
            value = context.run(work)
        except StopIteration as caught:  # which no future may hold
            error = RuntimeError(f"the function raised {caught!r}")
        except Exception as caught:  # noqa: BLE001  whoever waits for it gets it
            error = caught
        except BaseException as caught:  # noqa: BLE001  it may end its thread, not the program
            error = RuntimeError(f"the function raised {caught!r}")
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=perform, name="bridle-call", daemon=True).start()
    return await done


async def call(function: Callable[..., T | Awaitable[T]], *args: object, **named: object) -> T:
    """Call a function of the program, an async one on the loop and any other in a thread."""
    if is_async(function):
        said = function(*args, **named)
        assert isinstance(said, Awaitable)
        return await said
    said = await in_thread(lambda: function(*args, **named))
    return await said if isinstance(said, Awaitable) else said


def is_async(function: object) -> bool:
    """Tell whether calling something gives a coroutine."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
