"""The runs that a client starts: from the request to its answer, with the events in between.

Events are sent before the answer of their run. An interrupt applies to every run requested before it, even to
one that has not started yet.
"""

import asyncio
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.app import skills_in
from bridle.core.errors import BridleError, SessionNotRunning, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.protocol import (
    ApprovalRequested,
    Cancel,
    Delete,
    Delta,
    Prompt,
    QuestionAsked,
    Record,
    RunOptions,
)
from bridle.core.session_api import SessionApi
from bridle.surfaces.meerkat.events import SkillResolutionFailed
from bridle.surfaces.meerkat.requests import CreateParams, RunRequest, TurnParams, to_run_request
from bridle.surfaces.meerkat.results import run_result
from bridle.surfaces.meerkat.skills import add_skills
from bridle.surfaces.rpc.outbox import Outbox
from bridle.surfaces.rpc.protocol import notification_line
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.surfaces.rpc.streams import EventLines
from bridle.surfaces.rpc.tools import RpcClientTools
from bridle.surfaces.shared.error_codes import SKILL_NOT_FOUND, ErrorKind, Refused, classify_result
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import (
    Asked,
    RunDriver,
    answer_unattended,
    leave_to_others,
    rules_needed,
)
from bridle.surfaces.shared.session_calls import open_session, origin
from bridle.surfaces.shared.truncation import encode_truncated

MAX_DEFERRED = 1_000
BEGIN_S = 30.0


class RpcRunFailed(Refused):
    """A run ended without a result."""

    def __init__(self, problem: ErrorKind, result: Result) -> None:
        rules = rules_needed(result)
        hint = f"to allow it, add the rule allow {', '.join(rules)}" if rules else ""
        super().__init__(problem, result.reason or problem.title, hint=hint)
        self.result = result


class DeferredSession(Struct, frozen=True):
    """A session without its first run."""

    session_id: str


class _Turn:
    """A requested run."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        """Set when the session has accepted or rejected the run."""


class RpcRuns:
    """Starts, follows and interrupts the runs of one client."""

    def __init__(self, context: RpcContext, outbox: Outbox, tools: RpcClientTools) -> None:
        self.has_approvals = False
        """True if the client answers approvals and questions."""
        self._context = context
        self._api: SessionApi = context.api
        self._outbox = outbox
        self._tools = tools
        self._deferred: dict[SessionId, RunRequest] = {}
        self._turns: dict[SessionId, list[_Turn]] = {}

    # ------------------------------------------------------------------ requests

    async def create(self, params: CreateParams) -> Any:
        """Create a session, and start its first run unless that is deferred."""
        cwd = await asyncio.to_thread(self._context.folders.path, params.cwd)
        order = await self._with_skills(to_run_request(params), cwd)
        is_deferred = params.initial_turn == "deferred"
        prompt = (order.message,) if is_deferred and order.message.parts else ()
        session, is_new = await open_session(
            self._api,
            cwd=cwd,
            agent=params.agent,
            title=params.title,
            key=order.key,
            options=order.options.of_session,
            labels=params.labels or {},
            messages=(*params.first_messages, *prompt),
        )
        order = replace(order, options=order.options.of_run)
        if is_deferred:
            if len(self._deferred) >= MAX_DEFERRED:
                del self._deferred[next(iter(self._deferred))]
            self._deferred[session] = order
            return DeferredSession(session)
        turn = self._expect(session)
        try:
            return await self._run(session, order, turn)
        except _NotTaken as refusal:
            if is_new:
                await self._api.submit(session, Delete())  # it has no messages
            raise refusal.error from None
        finally:
            self._forget(session, turn)

    def expect_turn(self, params: TurnParams) -> _Turn:
        """Register a run before any further request is read; raises UsageError."""
        return self._expect(parse_session_id(params.session_id))

    async def start(self, params: TurnParams, turn: _Turn) -> Any:
        """Start another run of a session and follow it to its end."""
        session = parse_session_id(params.session_id)
        try:
            created = await origin(self._api, session)
            try:
                order = await self._with_skills(to_run_request(params), created.cwd)
            except Refused as refusal:
                await self._tell_skill(session, params, refusal)
                raise
            if (put_off := self._deferred.get(session)) is not None:
                order = _joined(put_off, order)
            result = await self._run(session, order, turn)
            self._deferred.pop(session, None)
            return result
        except _NotTaken as refusal:
            raise refusal.error from None
        finally:
            self._forget(session, turn)

    async def interrupt(self, session: SessionId) -> None:
        """Cancel the active run of a session; do nothing if it is idle. Raises SessionNotFound."""
        for turn in list(self._turns.get(session, ())):
            with suppress(TimeoutError):
                async with asyncio.timeout(BEGIN_S):
                    await turn.begun.wait()
        with suppress(SessionNotRunning):
            await self._api.submit(session, Cancel("interrupted by the client"))

    async def cancel_all(self) -> None:
        """Cancel every run of the client."""
        for session in list(self._turns):
            with suppress(BridleError):
                await self._api.submit(session, Cancel("the client is gone"))

    # ------------------------------------------------------------------ one run

    def _expect(self, session: SessionId) -> _Turn:
        turn = _Turn()
        self._turns.setdefault(session, []).append(turn)
        return turn

    def _forget(self, session: SessionId, turn: _Turn) -> None:
        turn.begun.set()
        left = [other for other in self._turns.pop(session, []) if other is not turn]
        if left:
            self._turns[session] = left

    async def _run(self, session: SessionId, order: RunRequest, turn: _Turn) -> Any:
        """Follow a run to its end; raises _NotTaken if it does not start, RunFailed if it fails."""
        lines = EventLines(self._context, session)
        async with RunDriver(
            self._api, session, leave_to_others if self.has_approvals else answer_unattended
        ) as drive:
            try:
                await self._tools.offer_to(session, order.tools, self._turns)
                await drive.start(Prompt(order.message, order.options, "reject", order.key))
            except BridleError as error:
                raise _NotTaken(error) from None
            turn.begun.set()
            async for item in drive.items():
                if order.wants_events:
                    await self._outbox.send_events(lines.of(item))
                if self.has_approvals:
                    await self._ask_client(session, item)
            result = drive.result
        assert result is not None
        problem = classify_result(result)
        if problem is not None:
            raise RpcRunFailed(problem, result)
        return run_result(result)

    async def _ask_client(self, session: SessionId, item: Record | Delta) -> None:
        match item.event if isinstance(item, Record) else None:
            case ApprovalRequested() as asked:
                await self._notify(session, "approval", asked)
            case QuestionAsked() as question:
                await self._notify(session, "question", question)
            case _:
                pass

    async def _notify(self, session: SessionId, kind: str, asked: Asked) -> None:
        """Send an approval or question to the client; shorten a long one, or send only its call id."""

        def write(value: Any) -> bytes:
            return notification_line(f"session/{kind}", {"session_id": session, kind: value})

        most_bytes = self._context.contract.max_line_bytes
        line = write(asked)
        if len(line) > most_bytes:
            line = encode_truncated(asked, write, most_bytes) or write({"call_id": asked.call_id})
        await self._outbox.send_event(line)

    # ------------------------------------------------------------------ defaults of a request

    async def _with_skills(self, order: RunRequest, cwd: str) -> RunRequest:
        text = order.message.text
        if not order.skills and "/" not in text[:1]:
            return order

        def resolved() -> RunRequest:
            return add_skills(order, skills_in(self._context.folders.settings(cwd)), cwd)

        return await asyncio.to_thread(resolved)

    async def _tell_skill(self, session: SessionId, params: TurnParams, refusal: Refused) -> None:
        if refusal.problem is not SKILL_NOT_FOUND or not params.session_events:
            return
        lines = EventLines(self._context, session)
        await self._outbox.send_events(lines.say(SkillResolutionFailed(refusal.message, refusal.message)))


class _NotTaken(Exception):
    """The prompt was rejected: no run started."""

    def __init__(self, error: BridleError) -> None:
        super().__init__(str(error))
        self.error = error


def parse_session_id(text: str) -> SessionId:
    """Return a valid session id, whether it exists or not; raises UsageError if it is invalid."""
    if not is_session_id(text):
        raise UsageError(f"Invalid session_id: {text[:80]!r}")
    return SessionId(text)


def _over(options: RunOptions, first: RunOptions) -> RunOptions:
    """Return `options`, with those that have default values taken from `first`."""
    usual = RunOptions()
    filled = {
        name: getattr(first, name)
        for name in RunOptions.__struct_fields__
        if getattr(options, name) == getattr(usual, name)
    }
    return replace(options, **filled)


def _joined(first: RunRequest, order: RunRequest) -> RunRequest:
    """Combine a deferred order, whose message the session has already, with the first turn."""
    return RunRequest(
        message=order.message,
        options=_over(order.options, first.options),
        tools=(*first.tools, *order.tools),
        key=order.key,
        wants_events=order.wants_events,
    )
