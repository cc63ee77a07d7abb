"""The follower of a run: from the command that starts it to its end, with its questions answered on the way.

```python
async with RunDriver(api, session, answer) as drive:
    await drive.start(Prompt(user_message("…")))
    async for item in drive.items():
        …                                   # every record and delta of the run
    drive.result                            # what it came to
```
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any, Self

from bridle.core.errors import SessionBusy, SessionNotRunning, UsageError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.protocol import (
    Aborted,
    ApprovalRequested,
    Cancel,
    Decide,
    Delta,
    DropQueued,
    Event,
    MessageAdded,
    Prompt,
    PromptQueued,
    QuestionAsked,
    QueueDropped,
    Record,
    Reply,
    Resume,
    RunEnded,
    RunStarted,
)
from bridle.core.queries import IsRunning, Status
from bridle.core.session import settled_call
from bridle.core.session_api import Receipt, SessionApi
from bridle.surfaces.shared.output_format import Result, ResultBuilder

NOBODY = "nobody is there to approve it"

Asked = ApprovalRequested | QuestionAsked
Answer = Decide | Reply
Answerer = Callable[[Asked], Awaitable[Answer | None]]
"""Answers an approval or a question; None leaves it to other clients."""
Spawn = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]
"""Starts a task."""


def make_unattended_answer(asked: Asked, why: str = NOBODY) -> Answer:
    """Return the answer when no person is there: an empty reply to a question, "stop" for an approval."""
    return Reply(asked.call_id) if isinstance(asked, QuestionAsked) else Decide(asked.call_id, "stop", why)


def rules_needed(result: Result) -> tuple[str, ...]:
    """Return the rules that would have allowed the calls that were stopped because no person was there."""
    rules = (rule for call in result.denied if call.reason == NOBODY for rule in call.rules)
    return tuple(dict.fromkeys(rules))


async def answer_unattended(asked: Asked) -> Answer | None:
    """Answer when no person is there."""
    return make_unattended_answer(asked)


async def leave_to_others(asked: Asked) -> Answer | None:
    """Leave every question to other clients of the session."""
    return None


def make_queued_error() -> SessionNotRunning:
    """Return the error for a prompt that stays in the queue because the run before it was stopped."""
    return SessionNotRunning(
        "the run before it was stopped, so the prompt waits in the queue",
        hint="it runs after the next prompt",
    )


class OpenQuestions:
    """The approvals and questions that are not settled yet, each with the task that answers it."""

    def __init__(
        self, answer: Callable[[Asked], Coroutine[Any, Any, Any]], spawn: Spawn = asyncio.create_task
    ) -> None:
        self.open: dict[CallId, Asked] = {}
        self._answer = answer
        self._spawn = spawn
        self._new: dict[CallId, Asked] = {}
        self._tasks: dict[CallId, asyncio.Task[Any]] = {}

    def add(self, event: Event) -> None:
        """Apply the next event: an answer from elsewhere ends the task."""
        if isinstance(event, Asked):
            self.open[event.call_id] = self._new[event.call_id] = event
        elif (call_id := settled_call(event)) is not None:
            self.settle(call_id)

    def settle(self, call_id: CallId) -> None:
        """Stop answering the question of a call."""
        self.open.pop(call_id, None)
        self._new.pop(call_id, None)
        if (task := self._tasks.pop(call_id, None)) is not None:
            task.cancel()

    def answer_new(self) -> None:
        """Start to answer what was added since the last call."""
        new, self._new = self._new, {}
        for call_id, asked in new.items():
            task = self._tasks.get(call_id)
            if task is None or task.done():  # a resumed run asks again
                self._tasks[call_id] = self._spawn(self._answer(asked))

    def clear(self) -> list[asyncio.Task[Any]]:
        """Forget all questions; return the tasks, which are being cancelled."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        self.open, self._new, self._tasks = {}, {}, {}
        return tasks

    async def aclose(self) -> None:
        """Stop answering."""
        if tasks := self.clear():
            await asyncio.wait(tasks)


class RunDriver:
    """Follows a run to its end and answers its questions; leaving early does not end the run."""

    def __init__(
        self,
        api: SessionApi,
        session: SessionId,
        answer: Answerer = answer_unattended,
        *,
        one_by_one: bool = False,
        spawn: Spawn = asyncio.create_task,
    ) -> None:
        """With `one_by_one`, put a question only when the one before it is settled."""
        self.session = session
        self.run_id: RunId | None = None
        """None while the prompt waits in the queue."""
        self.result: Result | None = None
        """The result of the run, once it has ended."""
        self._api = api
        self._answer = answer
        self._stream: AsyncGenerator[Record | Delta, None] | None = None
        self._item_id: str | None = None
        self._builder: ResultBuilder | None = None
        self._begun: Record | None = None
        self._waits = False
        self._known_upto = 0
        """The newest record when a prompt was repeated: questions and answers up to there are settled."""
        self._questions = OpenQuestions(self._answer_one, spawn)
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Lock() if one_by_one else nullcontext()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def subscribe(self, after: int | None = None) -> Record | Delta:
        """Miss nothing from here on; return the first item, by default the newest record."""
        self._stream = self._api.watch(self.session, after)
        return await anext(self._stream)

    async def start(self, command: Prompt | Resume) -> Receipt:
        """Submit the command; raises SessionError and ConfigError when it is refused."""
        if self._stream is None:
            await self.subscribe()
        assert self._stream is not None
        receipt = await self._api.submit(self.session, command)
        if receipt.repeated:
            await self._stream.aclose()
            self._stream = self._api.watch(self.session, 0)
            await resume_if_interrupted(self._api, self.session, receipt)
            self._known_upto = receipt.seq
        self._item_id = receipt.item_id
        self.run_id = receipt.run_id
        if receipt.run_id is not None and not receipt.repeated:
            self._builder = ResultBuilder(self.session, receipt.run_id)
        return receipt

    def join(self, run_id: RunId, after: int) -> None:
        """Follow an active run, from the record after `after` on."""
        self.run_id = run_id
        self._builder = ResultBuilder(self.session, run_id)
        self._stream = self._api.watch(self.session, after)

    async def items(self) -> AsyncGenerator[Record | Delta, None]:
        """Yield what happens, up to and with the end of the run.

        Raises SessionNotRunning when the prompt is taken out of the queue, or stays there as the run before
        it was stopped; and what the session API raises.
        """
        assert self._stream is not None, "start() comes first"
        while self.result is None:
            item = await anext(self._stream)
            if self._builder is None:
                for begun in self._await_begin(item):
                    self._apply(begun)
                    yield begun
                continue
            self._apply(item)
            yield item
        await self.aclose()

    async def finish(self) -> Result:
        """Follow the run to its end and return its result."""
        async for _ in self.items():
            pass
        assert self.result is not None
        return self.result

    async def cancel(self, reason: str = "") -> bool:
        """Cancel the run, or remove the prompt from the queue; the end of the run is among the items.

        Returns False if no run of ours is active; other clients' runs are left alone.
        """
        if self._stream is None or self.result is not None:
            return False
        try:
            if self.run_id is None and self._item_id is not None:
                await self._api.submit(self.session, DropQueued(self._item_id))
                return False
        except UsageError:
            pass  # it has just started
        if self.run_id is not None:
            active = (await self._api.ask(Status(self.session))).run
            if active is None or active.run_id != self.run_id:
                return False
        try:
            await self._api.submit(self.session, Cancel(reason))
        except SessionNotRunning:
            return False
        return True

    async def aclose(self) -> None:
        """Stop following."""
        await self._questions.aclose()
        if self._stream is not None:
            await self._stream.aclose()

    # ------------------------------------------------------------------ finding our run

    def _await_begin(self, item: Record | Delta) -> list[Record]:
        """Look for the start of our run: of a queued prompt, or of a repeated one."""
        if isinstance(item, Aborted) and not item.run_id:
            raise SessionNotRunning(item.reason)
        if not isinstance(item, Record):
            return []
        match item.event:
            case RunStarted() as event if event.run_id == self.run_id:
                self._builder = ResultBuilder(self.session, event.run_id)
                return [item]
            case RunStarted():
                self._begun = item
            case MessageAdded() as event if event.item_id is not None and event.item_id == self._item_id:
                return self._begin_queued(item)
            case QueueDropped() as event if event.item_id == self._item_id:
                raise SessionNotRunning("the prompt was taken out of the queue")
            case PromptQueued() as event if event.item_id == self._item_id:
                self._waits = True
            case RunEnded(outcome="cancelled" | "denied") if self._waits and item.seq > self._known_upto:
                raise make_queued_error()
            case _:
                pass
        return []

    def _begin_queued(self, item: Record) -> list[Record]:
        """Follow the run that has just taken our prompt, as its prompt or as a steering message."""
        assert self._begun is not None
        assert isinstance(self._begun.event, RunStarted)
        self.run_id = self._begun.event.run_id
        self._builder = ResultBuilder(self.session, self.run_id)
        return [self._begun, item]

    def _apply(self, item: Record | Delta) -> None:
        assert self._builder is not None
        self._builder.add(item)
        self.result = self._builder.result
        if isinstance(item, Record):
            self._questions.add(item.event)
            if item.seq >= self._known_upto and self.result is None:
                self._questions.answer_new()

    async def _answer_one(self, asked: Asked) -> None:
        async with self._turn:
            answer = await self._answer(asked)
            if answer is not None:
                with suppress(SessionNotRunning):  # it ended while the question was open
                    await self._api.submit(self.session, answer)
                    await asyncio.Event().wait()  # until settled: the answer may settle the next one too


async def resume_if_interrupted(api: SessionApi, session: SessionId, receipt: Receipt) -> None:
    """Resume the run of a repeated prompt if it has been interrupted since."""
    if not receipt.repeated or await api.ask(IsRunning(session)):
        return
    run = (await api.ask(Status(session))).run
    if run is not None and receipt.run_id in (None, run.run_id):
        with suppress(SessionBusy, SessionNotRunning):  # another client was faster
            await api.submit(session, Resume())


async def run_to_end(
    api: SessionApi, session: SessionId, command: Prompt | Resume, answer: Answerer = answer_unattended
) -> Result:
    """Drive one run and return its result."""
    async with RunDriver(api, session, answer) as drive:
        await drive.start(command)
        return await drive.finish()
