"""The runs that MCP clients started: driven from start to end, whether a call waits for them or not.

```
begin ─▶ running ◀────── follow ──────┐        follow returns when the run
            │                         │          ended        Result
            ├─ asks a person ─────────┤          asks         the client is asked, or answers in its next call
            ├─ calls a client tool ───┘          waits        the client sends the results in its next call
            └─ ended
```
"""

import asyncio
import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Self

from bridle.core.errors import BridleError, SessionBusy
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import ToolCall
from bridle.core.protocol import Delta, ModelReplied, Prompt, Record, Resume
from bridle.core.session_api import SessionApi
from bridle.surfaces.mcp_server.client_tools import ClientTools
from bridle.surfaces.mcp_server.progress import ProgressLines
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import (
    Answerer,
    Asked,
    OpenQuestions,
    RunDriver,
    answer_unattended,
    leave_to_others,
)

MAX_HELD = 64
MAX_REST_S = 12 * 3600.0
SETTLE_S = 0.05  # calls of one turn, or of one piece of code, arrive within this time
CANCEL_S = 10.0

log = logging.getLogger("bridle.mcp_server")


class ClientRun:
    """One run on behalf of a client."""

    def __init__(self, session: SessionId, callbacks: ClientTools | None) -> None:
        self.session = session
        self.token = secrets.token_urlsafe(24)
        """Identifies the run when the client returns with answers; unguessable."""
        self.run_id: RunId | None = None
        """None while the prompt is queued; then `item_id` identifies it."""
        self.item_id: str | None = None
        self.drive: RunDriver | None = None
        self.begun = asyncio.Event()
        self.news = ProgressLines()
        self.result: Result | None = None
        self.error: BaseException | None = None
        self.changed = asyncio.Event()
        self.announced: tuple[CallId, ...] = ()
        """The calls whose results the client was asked for."""
        self.is_followed = False
        self._questions = OpenQuestions(leave_to_others)
        self._has_reply = False
        """True if the calls of the newest reply are known; of a resumed run they are not."""
        self._callbacks = callbacks
        if callbacks is not None:
            callbacks.when_called = self.changed.set

    @property
    def is_over(self) -> bool:
        """True if the run ended or failed."""
        return self.result is not None or self.error is not None

    @property
    def asked(self) -> dict[CallId, Asked]:
        """The open approvals and questions."""
        return self._questions.open

    @property
    def waiting(self) -> dict[CallId, ToolCall]:
        """The calls that wait for the client's results."""
        return self._callbacks.waiting if self._callbacks is not None else {}

    @property
    def callbacks(self) -> ClientTools | None:
        """The client tools."""
        return self._callbacks

    @property
    def is_at_rest(self) -> bool:
        """True while the run cannot continue without the client's results."""
        waiting, started = self.waiting, [call for call in self.news.calls.open if call.started_at]
        around = {call.parent for call in started if call.call_id in waiting}
        is_busy = any(call.call_id not in waiting and call.call_id not in around for call in started)
        return bool(waiting) and not self.asked and not is_busy

    @property
    def is_settled(self) -> bool:
        """True if no further call of the client's tools can come before it sends results."""
        calls = [call.call_id for call in self.news.calls.open if call.parent is None]
        return self._has_reply and all(call_id in self.waiting for call_id in calls)

    def take(self, item: Record | Delta) -> None:
        """Process a record or delta."""
        if isinstance(item, Record):
            self._questions.add(item.event)
            self._has_reply = self._has_reply or isinstance(item.event, ModelReplied)
        self.news.add(item)
        self.changed.set()

    def settle(self, call_id: CallId) -> None:
        """Treat a question as answered; its record comes later."""
        self._questions.settle(call_id)

    def end(self, result: Result | None, error: BaseException | None = None) -> None:
        """Mark the run as ended."""
        self.result, self.error = result, error
        self.changed.set()

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Mark the run as followed by one call; raises SessionBusy if another call follows it."""
        if self.is_followed:
            raise SessionBusy(f"session {self.session}: another call follows its run")
        self.is_followed = True
        try:
            yield
        finally:
            self.is_followed = False


class ClientRuns:
    """All runs of one server; as a context manager, it stops following them at the end."""

    def __init__(self, api: SessionApi, *, most: int = MAX_HELD, rest_s: float = MAX_REST_S) -> None:
        """Hold at most `most` runs; cancel one that waits for its client longer than `rest_s`."""
        self.api = api
        self._most = most
        self._rest_s = rest_s
        self.is_leaving = False
        """True when the client leaves: runs in a daemon then continue."""
        self._runs: dict[str, ClientRun] = {}
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

    # ------------------------------------------------------------------ lookup

    def by_token(self, token: str) -> ClientRun | None:
        """Return the run with this token; None if there is none."""
        return self._runs.get(token)

    def run_with_tools(self, session: SessionId) -> ClientRun | None:
        """Return the active run of a session that has client tools; None if there is none."""
        found = (one for one in self._runs.values() if one.session == session and not one.is_over)
        return next((one for one in found if one.callbacks is not None), None)

    @property
    def client_run(self) -> Sequence[ClientRun]:
        """The runs that have not ended, and those whose clients do not know their end yet."""
        return tuple(self._runs.values())

    # ------------------------------------------------------------------ start and end

    async def begin(
        self,
        session: SessionId,
        command: Prompt | Resume,
        callbacks: ClientTools | None = None,
        *,
        is_attended: bool = True,
    ) -> ClientRun:
        """Start a run, with tools of its client; raises SessionError, ConfigError, UsageError.

        If `is_attended` is False, no call will follow it: its approvals and questions get no answer from a
        person.
        """
        if len(self._runs) >= self._most:
            raise SessionBusy(
                f"{self._most} runs are active or waiting for their clients",
                hint="give their results, or cancel some",
            )
        client_run = ClientRun(session, callbacks)
        self._runs[client_run.token] = client_run
        task = asyncio.create_task(
            self._drive(client_run, command, leave_to_others if is_attended else answer_unattended)
        )
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)
        try:
            await client_run.begun.wait()
        except asyncio.CancelledError:
            self.abandon(client_run, "the client cancelled the call")
            raise
        if client_run.error is not None:
            raise client_run.error
        return client_run

    async def _drive(self, client_run: ClientRun, command: Prompt | Resume, answer: Answerer) -> None:
        try:
            async with AsyncExitStack() as stack:
                if client_run.callbacks is not None:
                    await stack.enter_async_context(
                        self.api.provide_tools(client_run.session, client_run.callbacks)
                    )
                drive = await stack.enter_async_context(RunDriver(self.api, client_run.session, answer))
                client_run.drive = drive
                receipt = await drive.start(command)
                client_run.run_id, client_run.item_id = receipt.run_id, receipt.item_id
                client_run.begun.set()
                async for item in drive.items():
                    client_run.run_id = drive.run_id
                    client_run.take(item)
                client_run.end(drive.result)
        except BridleError as error:
            client_run.end(None, error)
        except Exception as error:  # the call that follows it must report it
            log.exception("a run could not be followed")
            client_run.end(None, error)
        finally:
            if client_run.token not in self._timers:  # else its client will return for the result
                self.forget(client_run)
            client_run.begun.set()

    def forget(self, client_run: ClientRun) -> None:
        """Remove a run: its client knows the result, or will not return."""
        self.wake(client_run)
        self._runs.pop(client_run.token, None)

    # ------------------------------------------------------------------ waiting for the client

    def rest(self, client_run: ClientRun) -> None:
        """Let a run wait for its client's next call, at most `rest_s`."""
        late = f"no answer arrived for {self._rest_s / 3600:g} hours"
        loop = asyncio.get_running_loop()
        self.wake(client_run)
        self._timers[client_run.token] = loop.call_later(self._rest_s, self.abandon, client_run, late)

    def wake(self, client_run: ClientRun) -> None:
        """Stop the timer, because the client is back."""
        if (timer := self._timers.pop(client_run.token, None)) is not None:
            timer.cancel()

    def abandon(self, client_run: ClientRun, reason: str) -> None:
        """Cancel a run without a client; if the client only disconnected, a run in a daemon continues."""
        self.wake(client_run)
        if client_run.is_over:
            self.forget(client_run)
            return
        if self.is_leaving and self.api.is_remote:
            return
        task = asyncio.create_task(self._cancel(client_run, reason))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel(self, client_run: ClientRun, reason: str) -> None:
        await client_run.begun.wait()
        if client_run.is_over:
            return
        assert client_run.drive is not None
        try:
            await client_run.drive.cancel(reason)
        except BridleError as error:
            log.warning("session %s: its run could not be cancelled: %s", client_run.session, error)
            return
        while not client_run.is_over:
            client_run.changed.clear()
            await client_run.changed.wait()
