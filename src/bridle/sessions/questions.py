"""The questions that a run's tools ask the user, and the answers."""

import asyncio

from bridle.core.ids import CallId
from bridle.core.protocol import Question, QuestionAnswered, QuestionAsked, Reply
from bridle.sessions.run_context import RunContext


class Questions:
    """Asks each question of a running call and returns its answer."""

    def __init__(self, kit: RunContext) -> None:
        self._kit = kit
        self._open: dict[CallId, asyncio.Future[tuple[str, ...]]] = {}
        self._replied: dict[CallId, Reply] = {}
        """Answers that arrived after a crash, before the question was asked again."""

    async def put(self, call_id: CallId, question: Question) -> tuple[str, ...]:
        """Ask the user and wait for the answer."""
        journal = self._kit.journal
        if (reply := self._replied.pop(call_id, None)) is not None:
            await journal.record_whole(QuestionAnswered(call_id, reply.answers))
            return reply.answers
        answered: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()
        self._open[call_id] = answered
        try:
            await journal.record_whole(QuestionAsked(call_id, question))
            return await answered
        finally:
            self._open.pop(call_id, None)

    def reply(self, reply: Reply) -> None:
        """Record the first answer to a question; ignore unknown calls and later answers."""
        if reply.call_id not in self._kit.run.questions:
            return
        if reply.call_id in self._open:
            self._kit.journal.stage(QuestionAnswered(reply.call_id, reply.answers))
            self._kit.later(self._hand_over(reply))
        else:
            self._replied.setdefault(reply.call_id, reply)

    async def _hand_over(self, reply: Reply) -> None:
        answered = self._open.get(reply.call_id)
        if answered is not None and not answered.done():
            answered.set_result(reply.answers)
