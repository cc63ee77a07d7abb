"""Follow one run: show it, answer its approvals and questions, and cancel or leave it on Ctrl-C."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from bridle.core.errors import BridleError, SessionNotRunning
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    Decide,
    Delta,
    Notice,
    Prompt,
    QuestionAnswered,
    QuestionAsked,
    Record,
    Reply,
    Resume,
    ToolFinished,
)
from bridle.core.session_api import SessionApi
from bridle.surfaces.cli.interrupts import Interrupts
from bridle.surfaces.cli.views import View
from bridle.surfaces.output_format import Result, ResultBuilder
from bridle.surfaces.run_driver import Asked, make_unattended_answer

if TYPE_CHECKING:
    from bridle.surfaces.cli.approver import Approver

T = TypeVar("T")

QUESTIONS = 1024  # calls of one turn that may wait for an answer
CALL_OFF_S = 0.5
PATIENCE_S = 1.0  # longest silent wait before the user is told
TERMINAL_GONE = "the terminal went away"


class Follower:
    """Shows a run, answers its approvals and questions, and cancels it on Ctrl-C."""

    def __init__(
        self,
        service: SessionApi,
        session: SessionId,
        view: View,
        approver: "Approver | None",
        *,
        when_taken: Callable[[], None] = lambda: None,
    ) -> None:
        self._service = service
        self._session = session
        self._view = view
        self._approver = approver
        self._when_taken = when_taken
        """Called once the session accepts the command, before anything of the run is shown."""
        self._asked: asyncio.Queue[tuple[Asked, asyncio.Event]] = asyncio.Queue(QUESTIONS)
        self._settled: dict[CallId, asyncio.Event] = {}
        self._held: list[Record | Delta] | None = None
        """Items that arrive while a question is on the screen."""
        self._group = asyncio.TaskGroup()
        self._reader_left = False
        self._has_ended = False
        self._joined: asyncio.Task[Any] | None = None
        """The task that follows a run started elsewhere."""
        self._is_leaving = False
        self._only_watches = False
        """True if questions are left to other clients: this one cannot ask, and it is not the only one."""

    async def run(self, command: Prompt | Resume, last_seq: int) -> Result:
        """Submit a command and show everything up to the end of its run.

        Raises SessionError if the command is rejected, and BrokenPipeError if stdout was closed; the run is
        cancelled then.
        """
        stream = self._service.watch(self._session, max(0, last_seq - 1))
        newest = await anext(stream)  # subscribes, so that no delta of the run is missed
        wait = asyncio.get_running_loop().call_later(PATIENCE_S, self._tell_wait)
        try:
            receipt = await self._service.submit(self._session, command)
        except asyncio.CancelledError:
            await self._call_off()
            raise
        finally:
            wait.cancel()
            if self._approver is not None:
                self._view.pause()
        self._when_taken()
        if last_seq <= 1:
            self._view.show(newest)
        assert receipt.run_id is not None, "only a busy session queues a prompt"
        return await self._show_run(receipt.run_id, stream)

    def _tell_wait(self) -> None:
        """Show that the run is still starting: MCP servers may take a while."""
        if self._approver is not None:
            self._view.show(Notice("waiting for the run to start", is_wait=True))

    async def join(self, run_id: RunId, after: int) -> Result | None:
        """Show a run that is already active, from the record after `after` on; None if the user leaves."""
        return await self._until_left(self._show_run(run_id, self._service.watch(self._session, after)))

    async def take_up(self, last_seq: int) -> Result | None:
        """Resume a run that was cut off, and show it; None if the user leaves."""
        return await self._until_left(self.run(Resume(), last_seq))

    async def _until_left(self, following: Coroutine[Any, Any, Result]) -> Result | None:
        self._joined = asyncio.current_task()
        self._only_watches = self._approver is None
        try:
            return await following
        except asyncio.CancelledError:
            if not self._is_leaving:
                raise
            assert self._joined is not None
            self._joined.uncancel()
            return None

    async def _show_run(self, run_id: RunId, stream: AsyncIterator[Record | Delta]) -> Result:
        try:
            result = await self._follow(run_id, stream)
        finally:
            if not self._reader_left:
                self._view.pause()
        if self._reader_left:
            raise BrokenPipeError
        self._view.finish(result)
        return result

    async def _follow(self, run_id: RunId, stream: AsyncIterator[Record | Delta]) -> Result:
        ledger = ResultBuilder(self._session, run_id)
        async with self._group as group:
            answering = group.create_task(self._answer_all())
            with Interrupts(self._interrupted, self._quitting):
                while ledger.result is None:
                    item = await anext(stream)
                    ledger.add(item)
                    self._show(item)
                    if isinstance(item, Record):
                        await self._track(item)
            self._has_ended = True
            answering.cancel()
        return ledger.result

    def _show(self, item: Record | Delta) -> None:
        if self._held is not None:
            self._held.append(item)
            return
        if self._reader_left:
            return
        try:
            self._view.show(item)
        except BrokenPipeError:
            self._reader_left = True
            self._cancel("nobody reads the output any more")

    # ------------------------------------------------------------------ approvals and questions

    async def _track(self, record: Record) -> None:
        match record.event:
            case ApprovalRequested() | QuestionAsked() as event:
                settled = self._settled[event.call_id] = asyncio.Event()
                await self._asked.put((event, settled))
            case ApprovalDecided() | QuestionAnswered() as event:
                self._settle(event.call_id)
            case ToolFinished() as event:
                self._settle(event.result.call_id)
            case event if self._approver is not None:
                self._approver.kin.line(event)
            case _:
                pass

    def _settle(self, call_id: CallId) -> None:
        if settled := self._settled.pop(call_id, None):
            settled.set()

    async def _answer_all(self) -> None:
        while True:
            asked, settled = await self._asked.get()
            if settled.is_set():
                continue
            if (answer := await self._answer(asked, settled)) is None:
                continue
            with suppress(SessionNotRunning):  # the run ended while the question was open
                await self._service.submit(self._session, answer)
            if isinstance(answer, Decide) and answer.answer == "stop":
                return
            await settled.wait()  # the answer may settle the next question too

    async def _answer(self, asked: Asked, settled: asyncio.Event) -> Decide | Reply | None:
        if self._only_watches:
            return None
        if self._approver is None:
            return make_unattended_answer(asked)
        self._view.pause()
        self._held = []
        try:
            answer = await _unless(settled, _put(self._approver, asked))
        finally:
            held, self._held = self._held, None
            for item in held:
                self._show(item)
        if answer is not None or settled.is_set():
            return answer
        self._only_watches = self._service.is_remote
        return None if self._only_watches else make_unattended_answer(asked, TERMINAL_GONE)

    # ------------------------------------------------------------------ ending early

    def _interrupted(self) -> None:
        if self._joined is None:
            self._cancel("interrupted by the user")
        else:
            self._is_leaving = True
            self._joined.cancel()

    def _cancel(self, reason: str) -> None:
        if not self._has_ended:
            self._group.create_task(self._submit_cancel(reason))

    async def _submit_cancel(self, reason: str) -> None:
        with suppress(SessionNotRunning):
            await self._service.submit(self._session, Cancel(reason))

    async def _call_off(self) -> None:
        """Cancel a run that is being started; a daemon would continue it without this client."""
        if self._service.is_remote and self._joined is None:
            with suppress(BridleError, TimeoutError):  # it may not have started yet
                async with asyncio.timeout(CALL_OFF_S):
                    await self._service.submit(self._session, Cancel("interrupted by the user"))

    def _quitting(self) -> None:
        if self._approver is not None:
            self._approver.restore()


async def _put(approver: "Approver", asked: Asked) -> Decide | Reply | None:
    return await (approver.put(asked) if isinstance(asked, QuestionAsked) else approver.ask(asked))


async def _unless(settled: asyncio.Event, asking: Coroutine[Any, Any, T]) -> T | None:
    """Wait for an answer; return None if the question is settled some other way first."""
    async with asyncio.TaskGroup() as group:
        answer = group.create_task(asking)
        other = group.create_task(settled.wait())
        await asyncio.wait([answer, other], return_when=asyncio.FIRST_COMPLETED)
        answer.cancel()
        other.cancel()
    return None if answer.cancelled() else answer.result()
