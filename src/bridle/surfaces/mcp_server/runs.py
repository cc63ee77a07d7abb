"""The runs that clients have started: followed from their begin to their end, whether a call waits or not.

```
begin ─▶ running ◀────── follow ──────┐        follow returns when the run
            │                         │          ended        Result
            ├─ asks a person ─────────┤          asks         the client is asked, or answers in its next call
            ├─ calls a tool of theirs ┘          waits        its results come with the client's next call
            └─ ended
```
"""

import asyncio
import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Self

from msgspec import Struct

from bridle.core.errors import BridleError, SessionBusy
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import ToolCall
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Delta,
    ModelReplied,
    Prompt,
    QuestionAnswered,
    QuestionAsked,
    Record,
    Resume,
    ToolFinished,
    ToolStarted,
)
from bridle.core.session_api import SessionApi
from bridle.surfaces.driving import Answerer, Asked, Drive, nobody, others
from bridle.surfaces.mcp_server.callbacks import Callbacks
from bridle.surfaces.mcp_server.news import News
from bridle.surfaces.wire import Result

MAX_HELD = 64
MAX_REST_S = 12 * 3600.0
SETTLE_S = 0.05  # in which calls of one turn, or of one piece of code, come one after the other
CANCEL_S = 10.0

log = logging.getLogger("bridle.mcp_server")


class Open(Struct):
    """What is going on in the turn of a run."""

    asked: dict[CallId, Asked] = {}
    """What a person has to answer."""
    calls: tuple[CallId, ...] = ()
    """Of the newest reply."""
    started: dict[CallId, CallId | None] = {}
    """Calls that run, and for each the call whose code has made it."""
    finished: set[CallId] = set()

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.event:
            case ModelReplied() as event:
                self.calls, self.finished = tuple(call.id for call in event.message.calls), set()
            case ApprovalRequested() | QuestionAsked() as event:
                self.asked[event.call_id] = event
            case ApprovalDecided() | QuestionAnswered() as event:
                self.asked.pop(event.call_id, None)
            case ToolStarted() as event:
                self.started[event.call_id] = event.parent
            case ToolFinished() as event:
                self.finished.add(event.result.call_id)
                self.started.pop(event.result.call_id, None)
                self.asked.pop(event.result.call_id, None)
            case _:
                pass

    def is_busy(self, waiting: set[CallId]) -> bool:
        """Tell whether a call runs that is neither waiting nor the code around one that is."""
        around = {self.started.get(call_id) for call_id in waiting}
        return any(call_id not in waiting and call_id not in around for call_id in self.started)

    def is_all(self, waiting: set[CallId]) -> bool:
        """Tell whether nothing is left of the reply but calls that wait, as far as it is known."""
        return bool(self.calls) and set(self.calls) - self.finished <= waiting


class HeldRun:
    """One run, as far as its client is concerned."""

    def __init__(self, session: SessionId, callbacks: Callbacks | None) -> None:
        self.session = session
        self.token = secrets.token_urlsafe(24)
        """By which a client that was asked something finds its run again; not to be guessed."""
        self.run_id: RunId | None = None
        """None as long as the prompt waits in the queue, as `item_id` there."""
        self.item_id: str | None = None
        self.drive: Drive | None = None
        self.begun = asyncio.Event()
        self.news = News()
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.changed = asyncio.Event()
        self.told: tuple[CallId, ...] = ()
        """The calls whose results the client was asked for."""
        self.is_followed = False
        self._open = Open()
        self._callbacks = callbacks
        if callbacks is not None:
            callbacks.when_called = self.changed.set

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more will happen."""
        return self.result is not None or self.error is not None

    @property
    def asked(self) -> dict[CallId, Asked]:
        """Return the questions that nobody has answered."""
        return self._open.asked

    @property
    def waiting(self) -> dict[CallId, ToolCall]:
        """Return the calls that wait for results of the client."""
        return self._callbacks.waiting if self._callbacks is not None else {}

    @property
    def callbacks(self) -> Callbacks | None:
        """Return the tools of the client."""
        return self._callbacks

    @property
    def is_at_rest(self) -> bool:
        """Tell whether the run cannot go on without results of the client."""
        waiting = set(self.waiting)
        return bool(waiting) and not self.asked and not self._open.is_busy(waiting)

    @property
    def is_settled(self) -> bool:
        """Tell whether no further call of the client's tools can come before it gives results."""
        return self._open.is_all(set(self.waiting))

    def take(self, item: Record | Delta) -> None:
        """Take in what happened."""
        if isinstance(item, Record):
            self._open.add(item)
        self.news.add(item)
        self.changed.set()

    def settle(self, call_id: CallId) -> None:
        """Take an answer for given; its record comes later."""
        self._open.asked.pop(call_id, None)

    def end(self, result: Result | None, error: BaseException | None = None) -> None:
        """Say that it is over."""
        self.result, self.error = result, error
        self.changed.set()

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Be the one call that follows the run; raises SessionBusy when another one does."""
        if self.is_followed:
            raise SessionBusy(f"session {self.session}: another call follows its run")
        self.is_followed = True
        try:
            yield
        finally:
            self.is_followed = False


class Runs:
    """Every run of one server; left, it follows none of them any more."""

    def __init__(self, api: SessionApi, *, most: int = MAX_HELD, rest_s: float = MAX_REST_S) -> None:
        """Hold `most` runs at once; one that waits for its client for `rest_s` is cancelled."""
        self.api = api
        self._most = most
        self._rest_s = rest_s
        self.is_leaving = False
        """The client goes away: its runs are left to the daemon, if they are in one."""
        self._held: dict[str, HeldRun] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._driving: set[asyncio.Task[None]] = set()
        self._cancelling: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._cancelling:
            await asyncio.wait(self._cancelling, timeout=CANCEL_S)
        for timer in self._timers.values():
            timer.cancel()
        tasks = [*self._driving, *self._cancelling]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # ------------------------------------------------------------------ finding

    def by_token(self, token: str) -> HeldRun | None:
        """Return the run that a token stands for."""
        return self._held.get(token)

    def resting_in(self, session: SessionId) -> HeldRun | None:
        """Return the run of a session that has tools of a client."""
        found = (one for one in self._held.values() if one.session == session and not one.is_over)
        return next((one for one in found if one.callbacks is not None), None)

    @property
    def held(self) -> Sequence[HeldRun]:
        """Return the runs that are not over, and those whose clients do not know it yet."""
        return tuple(self._held.values())

    # ------------------------------------------------------------------ beginning and ending

    async def begin(
        self,
        session: SessionId,
        command: Prompt | Resume,
        callbacks: Callbacks | None = None,
        *,
        is_attended: bool = True,
    ) -> HeldRun:
        """Start a run, with tools of its client; raises SessionError, ConfigError, UsageError.

        Of one that is not attended no call will follow: what it asks, nobody answers.
        """
        if len(self._held) >= self._most:
            raise SessionBusy(
                f"{self._most} runs are active or wait for their clients",
                hint="give their results, or cancel some",
            )
        held = HeldRun(session, callbacks)
        self._held[held.token] = held
        task = asyncio.create_task(self._drive(held, command, others if is_attended else nobody))
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)
        try:
            await held.begun.wait()
        except asyncio.CancelledError:
            self.abandon(held, "the client has cancelled the call")
            raise
        if held.error is not None:
            raise held.error
        return held

    async def _drive(self, held: HeldRun, command: Prompt | Resume, answer: Answerer) -> None:
        try:
            async with AsyncExitStack() as stack:
                if held.callbacks is not None:
                    await stack.enter_async_context(self.api.provide_tools(held.session, held.callbacks))
                drive = await stack.enter_async_context(Drive(self.api, held.session, answer))
                held.drive = drive
                receipt = await drive.start(command)
                held.run_id, held.item_id = receipt.run_id, receipt.item_id
                held.begun.set()
                async for item in drive.items():
                    held.run_id = drive.run_id
                    held.take(item)
                held.end(drive.result)
        except BridleError as error:
            held.end(None, error)
        except Exception as error:  # the call that follows it must hear of it
            log.exception("a run could not be followed")
            held.end(None, error)
        finally:
            if held.token not in self._timers:  # or its client will come for the end of it
                self.forget(held)
            held.begun.set()

    def forget(self, held: HeldRun) -> None:
        """Keep a run no longer: its client knows how it ended, or will not come."""
        self.wake(held)
        self._held.pop(held.token, None)

    # ------------------------------------------------------------------ resting

    def rest(self, held: HeldRun) -> None:
        """Let a run wait for the next call of its client, but not for ever."""
        late = f"nobody has answered it for {self._rest_s / 3600:g} hours"
        loop = asyncio.get_running_loop()
        self.wake(held)
        self._timers[held.token] = loop.call_later(self._rest_s, self.abandon, held, late)

    def wake(self, held: HeldRun) -> None:
        """The client is back."""
        if (timer := self._timers.pop(held.token, None)) is not None:
            timer.cancel()

    def abandon(self, held: HeldRun, reason: str) -> None:
        """Cancel a run that nobody waits for; one in a daemon goes on when the client only goes away."""
        self.wake(held)
        if held.is_over:
            self.forget(held)
            return
        if self.is_leaving and self.api.is_remote:
            return
        task = asyncio.create_task(self._cancel(held, reason))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel(self, held: HeldRun, reason: str) -> None:
        await held.begun.wait()
        if held.is_over:
            return
        assert held.drive is not None
        try:
            await held.drive.cancel(reason)
        except BridleError as error:
            log.warning("session %s: its run could not be cancelled: %s", held.session, error)
            return
        while not held.is_over:
            held.changed.clear()
            await held.changed.wait()
