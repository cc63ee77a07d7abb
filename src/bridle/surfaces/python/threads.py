"""Run blocking functions of the embedding program, each in its own thread."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from inspect import iscoroutinefunction
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Run a blocking function in a thread and return its result; a cancelled caller stops waiting.

    It does not use the loop's pool: a few functions that wait for a person would leave the engine no threads,
    and the program could not exit before they end.
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
            done.set_result(value)  # type: ignore[arg-type]  # the result of the work

    def perform() -> None:
        value: T | None = None
        error: Exception | None = None
        try:
            value = context.run(work)
        except StopIteration as caught:  # a future cannot hold a StopIteration
            error = RuntimeError(f"the function raised {caught!r}")
        except Exception as caught:  # noqa: BLE001  whoever waits for it gets it
            error = caught
        except BaseException as caught:  # noqa: BLE001  it may end its thread, not the program
            error = RuntimeError(f"the function raised {caught!r}")
        with suppress(RuntimeError):  # the loop is closed: there is no caller left
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=perform, name="bridle-call", daemon=True).start()
    return await done


async def call(function: Callable[..., T | Awaitable[T]], *args: object, **named: object) -> T:
    """Call a function of the program: an async one on the loop, any other in a thread."""
    if is_async(function):
        said = function(*args, **named)
        assert isinstance(said, Awaitable)
        return await said
    said = await in_thread(lambda: function(*args, **named))
    return await said if isinstance(said, Awaitable) else said


def is_async(function: object) -> bool:
    """Return True if calling the object gives a coroutine."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
