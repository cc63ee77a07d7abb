"""The MCP client behind a tool call: progress, questions, and following a run."""

import logging
from typing import Any, Literal

import anyio
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from pydantic import ValidationError

from bridle.core.errors import BridleError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall
from bridle.core.session_api import SessionApi
from bridle.surfaces.mcp_server.elicitation import answer_of, form_of
from bridle.surfaces.mcp_server.runs import SETTLE_S, ClientRun, ClientRuns
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import Answer, Asked, make_unattended_answer

ASK_S = 3600.0  # the user may be away for a while

CANCELLED = "the client cancelled the call"

log = logging.getLogger("bridle.mcp_server")

Context = ServerRequestContext[Any, Any]


class Ended(Struct, frozen=True):
    """The run ended."""

    result: Result


class NeedsResults(Struct, frozen=True):
    """The run needs results of client tools."""

    calls: tuple[ToolCall, ...]


class NeedsAnswers(Struct, frozen=True):
    """The run needs answers, which the client sends with its next call."""

    questions: dict[CallId, Asked]


Stop = Ended | NeedsResults | NeedsAnswers


class Client:
    """The client that made a call."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._told = 0

    @property
    def can_be_asked(self) -> Literal["now", "later", "never"]:
        """Whether it can show forms: "now", during a call, or "later", between two (since 2026-07-28)."""
        capabilities = self._context.session.client_capabilities
        forms = capabilities.elicitation if capabilities is not None else None
        if forms is None or (forms.form is None and forms.url is not None):
            return "never"
        if self._context.session.can_send_request:
            return "now"
        return "later" if self._context.protocol_version in MODERN_PROTOCOL_VERSIONS else "never"

    async def tell(self, lines: list[str]) -> None:
        """Report progress, if the client wants it."""
        for line in lines:
            self._told += 1
            await self._context.session.report_progress(self._told, None, line)

    async def ask(self, asked: Asked) -> Answer:
        """Ask a person with a form; if that fails, answer as if no person were there."""
        form = form_of(asked)
        try:
            with anyio.fail_after(ASK_S):
                given = await self._context.session.elicit_form(
                    form.message, form.requested_schema, self._context.request_id
                )
        except (MCPError, ValidationError, TimeoutError):
            return make_unattended_answer(asked)
        return answer_of(asked, given)


async def follow(runs: ClientRuns, client_run: ClientRun, client: Client) -> Stop:
    """Follow a run until it ends or needs something of its client.

    Cancelled, the run is cancelled too. Raises what the session API raises.
    """
    runs.wake(client_run)
    try:
        with client_run.followed():
            async with anyio.create_task_group() as group:
                stop = await _Following(runs, client_run, client, group).stop()
                group.cancel_scope.cancel()
    except anyio.get_cancelled_exc_class():
        runs.abandon(client_run, CANCELLED)
        raise
    if stop is not None:
        runs.rest(client_run)
        return stop
    runs.forget(client_run)
    if client_run.result is None:
        assert client_run.error is not None
        raise client_run.error
    return Ended(client_run.result)


async def submit_answer(api: SessionApi, session: SessionId, answer: Answer) -> None:
    """Submit an answer; ignore errors, since the run may have ended meanwhile and reports failures itself."""
    try:
        await api.submit(session, answer)
    except BridleError as error:
        log.info("session %s: an answer was not accepted: %s", session, error)


class _Following:
    """One call that follows a run."""

    def __init__(self, runs: ClientRuns, client_run: ClientRun, client: Client, group: TaskGroup) -> None:
        self._runs = runs
        self._client_run = client_run
        self._client = client
        self._group = group
        self._asking: dict[CallId, anyio.CancelScope] = {}

    async def stop(self) -> NeedsResults | NeedsAnswers | None:
        """Follow the run until the client is needed; return None if the run ended."""
        client_run, asks = self._client_run, self._client.can_be_asked
        while True:
            client_run.changed.clear()
            is_over = client_run.is_over  # read before the news, so that the last of them is sent
            await self._client.tell(client_run.news.take())
            if is_over:
                return None
            if client_run.asked and asks == "later":
                return NeedsAnswers(dict(client_run.asked))
            self._ask_what_is_new()
            if client_run.is_at_rest and (client_run.is_settled or await self._is_quiet()):
                client_run.announced = tuple(client_run.waiting)
                return NeedsResults(tuple(client_run.waiting.values()))
            await client_run.changed.wait()

    async def _is_quiet(self) -> bool:
        """Return True if no further call of the same turn arrives within `SETTLE_S`."""
        with anyio.move_on_after(SETTLE_S):
            await self._client_run.changed.wait()
            return False
        return True

    def _ask_what_is_new(self) -> None:
        asked = self._client_run.asked
        for call_id in [one for one in self._asking if one not in asked]:
            self._asking.pop(call_id).cancel()  # answered elsewhere
        for call_id, question in asked.items():
            if call_id not in self._asking:
                scope = self._asking[call_id] = anyio.CancelScope()
                self._group.start_soon(self._ask, question, scope)

    async def _ask(self, asked: Asked, scope: anyio.CancelScope) -> None:
        with scope:
            is_there = self._client.can_be_asked == "now"
            answer = await self._client.ask(asked) if is_there else make_unattended_answer(asked)
            await submit_answer(self._runs.api, self._client_run.session, answer)
