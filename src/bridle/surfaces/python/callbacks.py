"""Run a program's callbacks in their threads, to decide approvals and answer questions of a run."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from inspect import iscoroutinefunction
from typing import TypeVar, get_args

from bridle.core.errors import UsageError
from bridle.core.protocol import Answer, ApprovalRequested, Decide, QuestionAsked, Reply
from bridle.surfaces.shared import run_driver
from bridle.system.tasks import is_cancelled

# ---------------------------------------------------------------------------- threads
# Run blocking functions of the embedding program, each in its own thread.


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
        except Exception as caught:  # noqa: BLE001  the caller that awaits it gets it
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


# ---------------------------------------------------------------------------- callbacks


Approval = Answer | bool | tuple[Answer, str] | None
"""True means "once", False means "deny"; a text next to the answer goes to the model. None leaves the
approval to other clients of the session.
"""
Approve = Callable[[ApprovalRequested], Approval | Awaitable[Approval]]
"""Decides an approval; a function that is not async runs in a thread and may block for a person."""

Said = str | Sequence[str] | None
"""None means no answer."""
AnswerCallback = Callable[[QuestionAsked], Said | Awaitable[Said]]
"""Answers a question from the model."""

_ANSWERS: tuple[str, ...] = get_args(Answer)


class CallbackResponder:
    """Calls the program's callbacks; without one, approvals stop the run and questions get no answer."""

    def __init__(self, approve: Approve | None, answer: AnswerCallback | None) -> None:
        self.failure: BaseException | None = None
        """What a callback raised; the run was stopped because of it."""
        self._approve = approve
        self._answer = answer

    async def __call__(self, asked: run_driver.Asked) -> run_driver.Answer | None:
        """Answer one approval or question; a callback that fails stops the run."""
        try:
            if isinstance(asked, QuestionAsked):
                return await self._reply(asked)
            return await self._decide(asked)
        except asyncio.CancelledError as error:
            if is_cancelled():
                raise
            return self._failed(asked, error)
        except Exception as error:  # noqa: BLE001  the run must not wait for an answer that never comes
            return self._failed(asked, error)

    def _failed(self, asked: run_driver.Asked, error: BaseException) -> run_driver.Answer:
        self.failure = error
        why = f"the callback failed: {type(error).__name__}: {error}"
        return run_driver.make_unattended_answer(asked, why)

    async def _decide(self, asked: ApprovalRequested) -> run_driver.Answer | None:
        if self._approve is None:
            return run_driver.make_unattended_answer(asked)
        said: Approval = await call(self._approve, asked)
        if said is None:
            return None
        if isinstance(said, bool):
            return Decide(asked.call_id, "once" if said else "deny")
        answer, reason = said if isinstance(said, tuple) else (said, "")
        if answer not in _ANSWERS:
            raise UsageError(f"approve returned {answer!r}, not one of {', '.join(_ANSWERS)}")
        return Decide(asked.call_id, answer, reason)

    async def _reply(self, asked: QuestionAsked) -> run_driver.Answer | None:
        if self._answer is None:
            return run_driver.make_unattended_answer(asked)
        said: Said = await call(self._answer, asked)
        answers = () if said is None else (said,) if isinstance(said, str) else tuple(said)
        if not all(isinstance(one, str) for one in answers):
            raise UsageError("answer did not return text")
        return Reply(asked.call_id, answers)
