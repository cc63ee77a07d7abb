"""A session that an editor has open: it is followed as long as that, whoever runs it.

```
api.watch ─▶ Translation ─▶ session/update          each item in order, before the answer of its prompt
          └▶ ApprovalRequested, QuestionAsked ─▶ the editor ─▶ Decide, Reply
```
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from acp import RequestError
from acp.schema import SessionNotification, StopReason
from msgspec import Struct
from pydantic import ValidationError

from bridle.app.client_servers import ClientServers
from bridle.config.settings import Settings
from bridle.core.budget import BudgetKind
from bridle.core.errors import BridleError, SessionNotFound, SessionNotRunning
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import StopReason as ModelStop
from bridle.core.protocol import (
    Aborted,
    BudgetExhausted,
    Cancel,
    Command,
    Decide,
    Delta,
    DropQueued,
    FilesChanged,
    MessageAdded,
    ModelReplied,
    Prompt,
    QuestionAsked,
    QueueDropped,
    Record,
    Reply,
    RunStarted,
)
from bridle.core.queries import Describe, IsRunning, Records, ServerPrompts, Status
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.skill import Skill
from bridle.core.transcript import drop_rewound
from bridle.mcp.settings import ServerSettings
from bridle.surfaces.acp.errors import stop_reason
from bridle.surfaces.acp.permission_requests import Editor, PermissionRequests, to_json_values
from bridle.surfaces.acp.session_options import Choices, commands_update
from bridle.surfaces.acp.updates import Update, UpdateTranslator, note
from bridle.surfaces.shared.output_format import Result, ResultBuilder
from bridle.surfaces.shared.run_driver import Asked, OpenQuestions, make_queued_error, make_unattended_answer

CANNOT_ASK = "the editor cannot be asked"
EDITOR_GONE = "the editor went away"
STOP_S = 5.0
_log = logging.getLogger(__name__)


class Ended(Struct, frozen=True):
    """The result of a prompt."""

    result: Result
    stop_reason: StopReason


End = asyncio.Future[Ended | None]
"""The end of a prompt; None if it was removed from the queue."""


class EditorClient(Editor, Protocol):
    """The editor as a session uses it."""

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification; raises ConnectionError."""
        ...


class OpenSession:
    """Sends a session's updates, approvals and questions to an editor, and submits the editor's prompts."""

    def __init__(
        self, api: SessionApi, session: SessionId, cwd: str, choices: Choices, screen: EditorClient
    ) -> None:
        self.id = session
        self.cwd = cwd
        self.choices = choices
        self._api = api
        self._screen = screen
        self._permissions = PermissionRequests(screen, session)
        self._translation = UpdateTranslator(cwd)
        self._taking = asyncio.Lock()
        """Held while a prompt is submitted, so that its run is known as own before its first update."""
        self._stream: AsyncGenerator[Record | Delta, None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._ledger: ResultBuilder | None = None
        self._last: ModelStop = "end_turn"
        self._exhausted: BudgetKind | None = None
        self._own_runs: set[RunId] = set()
        self._ends: dict[RunId, list[End]] = {}
        self._queued: dict[str, End] = {}
        self._questions = OpenQuestions(self._answer)
        self._is_cancelled = False
        """True if the editor cancelled the run: dismissed requests are then no answers."""
        self._servers: ClientServers | None = None
        self._commands = commands_update((), ())
        self._saying: set[asyncio.Task[None]] = set()
        self._lost: BridleError | None = None
        """Why the session is no longer followed."""

    # ------------------------------------------------------------------ opening and closing

    async def follow(self) -> None:
        """Start sending new events; raises SessionNotFound."""
        self._stream = self._api.watch(self.id, None)
        await anext(self._stream)  # from here on nothing is missed
        self._following = asyncio.create_task(self._follow(self._stream))

    async def take_up(self, *, tells: bool) -> None:
        """Open an existing session: send its history if `tells`, and its open approvals and questions.

        Raises SessionNotFound, ConnectionError.
        """
        known = (await self._api.ask(Status(self.id))).facts
        records = await self._api.ask(Records(self.id))
        for record in drop_rewound(records) if tells else ():
            await self._show(record, is_own=False)
        self._translation.cost = None if known.totals.unpriced_turns else known.totals.cost
        self._stream = self._api.watch(self.id, records[-1].seq)
        if await self._api.ask(IsRunning(self.id)):
            self._join(records)
        else:
            for update in self._translation.close():
                await self.send(update)
        self._following = asyncio.create_task(self._follow(self._stream))

    def provide_server_tools(
        self, servers: Sequence[ServerSettings], settings: Settings, environ: Mapping[str, str]
    ) -> None:
        """Start MCP servers for this session only."""
        self._servers = ClientServers(self._api, self.id, servers, settings)
        self._servers.start(environ, self._say)

    async def servers_settled(self) -> None:
        """Wait a short time for starting MCP servers."""
        if self._servers is not None:
            await self._servers.settled()

    async def send_commands(self, skills: Sequence[Skill]) -> None:
        """Send the slash commands if they changed."""
        update = commands_update(skills, await self._api.ask(ServerPrompts(self.cwd)))
        if update != self._commands:
            self._commands = update
            await self.send(update)

    async def send(self, update: Update) -> None:
        """Send one update; raises ConnectionError."""
        await self._screen.notify(
            "session/update", to_json_values(SessionNotification(session_id=self.id, update=update))
        )

    async def aclose(self) -> None:
        """Stop following the session; cancel its run unless it continues in a daemon."""
        is_at_rest = self._ledger is None and not self._ends and not self._queued
        if not is_at_rest and not self._api.is_remote:
            await self.stop(EDITOR_GONE)
        if self._servers is not None:
            await self._servers.aclose()
        tasks = [
            *self._questions.clear(),
            *self._saying,
            *([self._following] if self._following is not None else []),
        ]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._stream is not None:
            await self._stream.aclose()
        self._fail(SessionNotFound(f'session "{self.id}" was closed'))

    @property
    def is_running(self) -> bool:
        """True while a run is known to be active."""
        return self._ledger is not None

    def _say(self, text: str) -> None:
        """Send a note about a problem outside the run."""

        async def send() -> None:
            with suppress(ConnectionError):
                await self.send(note(text))

        task = asyncio.create_task(send())
        self._saying.add(task)
        task.add_done_callback(self._saying.discard)

    # ------------------------------------------------------------------ requests of the editor

    async def prompt(self, prompt: Prompt) -> Ended | None:
        """Submit a prompt and wait for the end of its run; None if it was removed from the queue.

        Raises what the session API raises.
        """
        end: End = asyncio.get_running_loop().create_future()
        async with self._taking:
            if self._lost is not None:
                raise self._lost
            receipt = await self._submit_prompt(prompt)
            if receipt.run_id is not None:
                self._own_runs.add(receipt.run_id)
                self._ends.setdefault(receipt.run_id, []).append(end)
            else:
                assert receipt.item_id is not None
                self._queued[receipt.item_id] = end
        return await end

    async def _submit_prompt(self, prompt: Prompt) -> Receipt:
        try:
            return await self._api.submit(self.id, prompt)
        except asyncio.CancelledError:  # the editor is gone, but the run may still start
            if not self._api.is_remote:
                await self.cancel(EDITOR_GONE)
            raise

    async def submit(self, command: Command) -> Receipt:
        """Submit any other command; its effects arrive as events."""
        return await self._api.submit(self.id, command)

    async def cancel(self, reason: str = "") -> None:
        """Remove the editor's prompts from the queue and cancel the run."""
        self._is_cancelled = True
        for item_id in list(self._queued):
            with suppress(BridleError):  # it has started
                await self._api.submit(self.id, DropQueued(item_id))
        with suppress(BridleError):  # no run is active
            await self._api.submit(self.id, Cancel(reason))

    async def stop(self, reason: str) -> None:
        """Cancel, and wait up to `STOP_S` seconds for the editor's prompts to be answered."""
        await self.cancel(reason)
        ends = [*self._queued.values(), *(end for ends in self._ends.values() for end in ends)]
        if ends:
            await asyncio.wait(ends, timeout=STOP_S)

    # ------------------------------------------------------------------ events

    async def _follow(self, stream: AsyncGenerator[Record | Delta, None]) -> None:
        try:
            async for item in stream:
                async with self._taking:
                    await self._take(item)
        except ConnectionError:
            self._fail(SessionNotFound(EDITOR_GONE))
        except BridleError as error:
            self._fail(error)
        except Exception:  # noqa: BLE001  the outermost frame: the editor must not wait for an answer in vain
            _log.exception("session %s could not be followed", self.id)
            self._fail(BridleError(f'session "{self.id}" could not be followed'))

    def _join(self, records: list[Record]) -> None:
        """Join an active run: its open approvals and questions are also sent to this editor."""
        for record in records:
            if isinstance(record.event, RunStarted):
                self._ledger = ResultBuilder(self.id, record.event.run_id)
            self._questions.add(record.event)
            if self._ledger is not None:
                self._ledger.add(record)
        if self._ledger is not None and self._ledger.result is not None:
            self._ledger = None
            self._questions.clear()
        self._questions.answer_new()

    async def _take(self, item: Record | Delta) -> None:
        if isinstance(item, Record):
            await self._show(item, is_own=self._claim(item))
            self._track(item)
        else:
            await self._show(item, is_own=False)
        if isinstance(item, Aborted) and not item.run_id:
            self._fail_queue(SessionNotRunning(item.reason))
        if self._ledger is not None:
            self._ledger.add(item)
            if self._ledger.result is not None:
                self._end(self._ledger.result)

    async def _show(self, item: Record | Delta, *, is_own: bool) -> None:
        diff = ""
        event = item.event if isinstance(item, Record) else None
        if isinstance(event, FilesChanged) and self._translation.wants_diff(event):
            diff = await self._api.ask(Describe(event.changes))
        for update in self._translation.take(item, is_own=is_own, diff=diff):
            await self.send(update)

    def _claim(self, record: Record) -> bool:
        """Track which run is active; return True for a message that the editor itself sent."""
        match record.event:
            case RunStarted() as event:
                self._ledger = ResultBuilder(self.id, event.run_id)
                self._is_cancelled, self._last, self._exhausted = False, "end_turn", None
            case MessageAdded(item_id=str() as item_id) if item_id in self._queued:
                assert self._ledger is not None
                self._ends.setdefault(self._ledger.run_id, []).append(self._queued.pop(item_id))
                return True
            case MessageAdded(source="prompt", item_id=None) if self._ledger is not None:
                return self._ledger.run_id in self._own_runs
            case QueueDropped() as event if event.item_id in self._queued:
                _settle(self._queued.pop(event.item_id), None)
            case _:
                pass
        return False

    def _end(self, result: Result) -> None:
        self._ledger = None
        self._own_runs.discard(result.run_id)
        self._questions.clear()
        ended = Ended(result, stop_reason(result, self._last, self._exhausted))
        for end in self._ends.pop(result.run_id, []):
            _settle(end, ended)
        if result.outcome in ("cancelled", "denied"):
            self._fail_queue(make_queued_error())

    def _fail(self, error: BridleError) -> None:
        """Stop following; keep what is open, because closing must end it."""
        self._lost = error
        for end in [*self._queued.values(), *(end for ends in self._ends.values() for end in ends)]:
            if not end.done():
                end.set_exception(error)

    def _fail_queue(self, error: BridleError) -> None:
        for end in self._queued.values():
            if not end.done():
                end.set_exception(error)
        self._queued.clear()

    # ------------------------------------------------------------------ approvals and questions

    def _track(self, record: Record) -> None:
        match record.event:
            case ModelReplied() as event:
                self._last = event.stop_reason
            case BudgetExhausted() as event:
                self._exhausted = event.kind
            case event:
                self._questions.add(event)
                self._questions.answer_new()

    async def _answer(self, asked: Asked) -> None:
        try:
            answer = await self._answer_of(asked)
        except (RequestError, ValidationError):
            answer = make_unattended_answer(asked, CANNOT_ASK)
        except ConnectionError:
            return  # `aclose` decides about the run
        if self._is_cancelled:
            return
        with suppress(BridleError):  # the run ended meanwhile
            await self._api.submit(self.id, answer)

    async def _answer_of(self, asked: Asked) -> Decide | Reply:
        if isinstance(asked, QuestionAsked):
            return await self._permissions.reply(asked, self._translation.who_asks(asked))
        return await self._permissions.decide(asked, self._translation.call_of(asked))


def _settle(end: End, ended: Ended | None) -> None:
    if not end.done():
        end.set_result(ended)
