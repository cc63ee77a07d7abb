"""Show a run in the terminal, ask its approvals and questions there, and cancel or leave it on Ctrl-C."""

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from bridle.core.errors import BridleError
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Cancel, Decide, Delta, Notice, Prompt, QuestionAsked, Record, Resume
from bridle.core.session_api import SessionApi
from bridle.surfaces.cli.output.views import View
from bridle.surfaces.shared.output_format import EXIT_CODES, Result
from bridle.surfaces.shared.run_driver import Answer, Asked, RunDriver, make_unattended_answer

if TYPE_CHECKING:
    from bridle.surfaces.cli.approver import Approver

# ---------------------------------------------------------------------------- interrupts
# Ctrl-C handling: the first press requests a cancel, the second ends the process at once.


class Interrupts:
    """Handles SIGINT while a run is followed; restores the previous handler afterwards."""

    def __init__(self, on_first: Callable[[], None], before_quitting: Callable[[], None]) -> None:
        self._on_first = on_first
        self._before_quitting = before_quitting
        self._loop = asyncio.get_running_loop()
        self._pressed = False
        self._before: signal.Handlers | int | Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is not signal.SIG_IGN:  # a background job of a shell must not be interrupted
            signal.signal(signal.SIGINT, self._pressed_key)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _pressed_key(self, number: int, frame: FrameType | None) -> None:
        # A handler of the signal module, not of the event loop: it works even while the loop is stuck.
        if self._pressed:
            self._before_quitting()
            os._exit(EXIT_CODES["cancelled"])
        self._pressed = True
        self._loop.call_soon_threadsafe(self._on_first)


# ---------------------------------------------------------------------------- run follower


CALL_OFF_S = 0.5
PATIENCE_S = 1.0  # longest silent wait before the user is told
TERMINAL_GONE = "the terminal went away"


class Follower:
    """Shows one run, asks its approvals and questions one by one, and cancels it on Ctrl-C."""

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
        self._held: list[Record | Delta] | None = None
        """Items that arrive while a question is on the screen."""
        self._group = asyncio.TaskGroup()
        self._driver = RunDriver(
            service, session, self._answer, one_by_one=True, spawn=self._group.create_task
        )
        self._reader_left = False
        self._joined: asyncio.Task[Any] | None = None
        """The task that follows a run started elsewhere."""
        self._is_leaving = False
        self._only_watches = False
        """True if questions are left to other clients: this one cannot ask, and it is not the only one."""
        self._has_stopped = False
        """True if the user has stopped the run: nothing more is asked."""

    async def run(self, command: Prompt | Resume, last_seq: int) -> Result:
        """Submit a command and show everything up to the end of its run.

        Raises SessionError if the command is rejected, and BrokenPipeError if stdout was closed; the run is
        cancelled then.
        """
        newest = await self._driver.subscribe(max(0, last_seq - 1))
        wait = asyncio.get_running_loop().call_later(PATIENCE_S, self._tell_wait)
        try:
            await self._driver.start(command)
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
        return await self._show_run()

    def _tell_wait(self) -> None:
        """Show that the run is still starting: MCP servers may take a while."""
        if self._approver is not None:
            self._view.show(Notice("waiting for the run to start", is_wait=True))

    async def join(self, run_id: RunId, after: int) -> Result | None:
        """Show a run that is already active, from the record after `after` on; None if the user leaves."""
        self._driver.join(run_id, after)
        return await self._until_left(self._show_run())

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

    async def _show_run(self) -> Result:
        try:
            await self._follow()
        finally:
            if not self._reader_left:
                self._view.pause()
        if self._reader_left:
            raise BrokenPipeError
        assert self._driver.result is not None
        self._view.finish(self._driver.result)
        return self._driver.result

    async def _follow(self) -> None:
        async with self._group:
            with Interrupts(self._interrupted, self._quitting):
                async for item in self._driver.items():
                    self._show(item)
                    if self._approver is not None and isinstance(item, Record):
                        self._approver.subagent_names.line(item.event)

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
            self._cancel("nothing reads the output any more")

    # ------------------------------------------------------------------ approvals and questions

    async def _answer(self, asked: Asked) -> Answer | None:
        if self._only_watches or self._has_stopped:
            return None
        if self._approver is None:
            return make_unattended_answer(asked)
        self._view.pause()
        self._held = []
        try:
            answer = await _put(self._approver, asked)
        finally:
            held, self._held = self._held, None
            for item in held:
                self._show(item)
        if answer is not None:
            self._has_stopped = isinstance(answer, Decide) and answer.answer == "stop"
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
        if self._driver.result is None:
            self._group.create_task(self._driver.cancel(reason))

    async def _call_off(self) -> None:
        """Cancel a run that is being started; a daemon would continue it without this client."""
        if self._service.is_remote and self._joined is None:
            with suppress(BridleError, TimeoutError):  # it may not have started yet
                async with asyncio.timeout(CALL_OFF_S):
                    await self._service.submit(self._session, Cancel("interrupted by the user"))

    def _quitting(self) -> None:
        if self._approver is not None:
            self._approver.restore()


async def _put(approver: "Approver", asked: Asked) -> Answer | None:
    return await (approver.put(asked) if isinstance(asked, QuestionAsked) else approver.ask(asked))
