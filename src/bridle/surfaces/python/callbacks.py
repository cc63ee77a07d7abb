"""Adapt a program's callbacks to decide approvals and answer questions of a run."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import get_args

from bridle.core.errors import UsageError
from bridle.core.protocol import Answer, ApprovalRequested, Decide, QuestionAsked, Reply
from bridle.surfaces import run_driver
from bridle.surfaces.python.threads import call
from bridle.system.tasks import is_cancelled

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
