"""What a server requests during a call: questions for the user, requests to the model, the folder.

A request belongs to a call. Since the 2026 revision, and over streamable HTTP before it, it arrives in the
call's own context. Otherwise it belongs to the session that has calls in flight, if there is exactly one. One
session's question is never shown to another.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import PurePath
from typing import Any, TypeVar
from urllib.parse import urlsplit

import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError

from bridle.core.errors import ToolError
from bridle.core.messages import Media, Message, Text
from bridle.core.ports import ToolContext
from bridle.core.protocol import Question
from bridle.core.sampling_request import SampleRequest
from bridle.mcp import forms
from bridle.mcp.server_log import clean
from bridle.mcp.settings import ServerSettings

MAX_SHOWN_CHARS = 1000
MAX_URL_CHARS = 2000
MAX_TRIES = 3
MAX_PAGES = 5
MAX_REQUESTS = 50  # per call: a server that asks without end is ignored
MAX_SAMPLE_TOKENS = 16_384
MAX_SAMPLE_MESSAGES = 100
MAX_STOPS = 16

OPENED = "I have opened it"
ALLOW = "allow"

_REJECTED = -1  # the protocol's code for a request that the user refused
_UNCLEAR = "declined: it is unclear which session this is for"
_STOPS = {"end_turn": "endTurn", "stop_sequence": "stopSequence", "max_tokens": "maxTokens"}

_T = TypeVar("_T")
_Answer = types.ElicitResult | types.ErrorData


def _say_nothing(line: str) -> None:
    """Discard the line."""


class _Call:
    """A call in flight."""

    def __init__(self, context: ToolContext) -> None:
        self.context = context
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.turn = asyncio.Lock()
        """A call can have only one open question at a time."""
        self.requests = 0


class _CallOver(Exception):
    """The call has ended while its server waited for an answer."""


_current: ContextVar[_Call | None] = ContextVar("mcp_call", default=None)


class RequestHandler:
    """Answers the requests of one server, each on behalf of the call it belongs to."""

    def __init__(
        self, settings: ServerSettings, root: str, note: Callable[[str], None] = _say_nothing
    ) -> None:
        """Set the server, the folder it works for, and the function that records declined requests."""
        self._settings = settings
        self._root = "" if settings.scope == "user" else root
        self._note = note
        self._calls: list[_Call] = []

    @contextmanager
    def calling(self, context: ToolContext) -> Iterator[None]:
        """Register a call for the task that makes it; its open requests are dropped when it ends."""
        call = _Call(context)
        token = _current.set(call)
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)
            call.over.set_result(None)
            _current.reset(token)

    def callbacks(self) -> dict[str, Any]:
        """Return the callback arguments for an `mcp.Client`."""
        made: dict[str, Any] = {"elicitation_callback": self.elicit, "list_roots_callback": self.roots}
        if self._settings.sampling != "deny":
            made["sampling_callback"] = self.sample
        return made

    def _call(self) -> _Call | None:
        """Return the call that a request belongs to; None if that is unclear or it has asked too often."""
        call = _current.get()
        if call not in self._calls:
            sessions = {one.context.session for one in self._calls}
            call = self._calls[-1] if len(sessions) == 1 else None
        if call is None:
            return None
        call.requests += 1
        return call if call.requests <= MAX_REQUESTS else None

    async def _within(self, call: _Call, doing: Callable[[], Awaitable[_T]]) -> _T:
        """Run something for a call, one at a time; raises _CallOver if the call ends first."""
        task = asyncio.ensure_future(_in_turn(call, doing))
        try:
            await asyncio.wait((task, call.over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
        if not task.done() or task.cancelled():
            raise _CallOver
        return task.result()

    # ------------------------------------------------------------------ questions to the user

    async def elicit(self, ctx: Any, params: types.ElicitRequestParams) -> _Answer:
        """Show the user a form or a web page, and return the outcome."""
        call = self._call()
        if call is None:
            return self._unclear("a question")
        if call.context.ask is None:
            self._note("a question of it was declined: no one is available to answer")
            return types.ElicitResult(action="decline")
        try:
            if isinstance(params, types.ElicitRequestURLParams):
                return await self._show_page(call, params)
            return await self._fill_form(call, params)
        except ToolError as error:
            return self._refused("a question", str(error), types.INTERNAL_ERROR)
        except _CallOver:
            return types.ElicitResult(action="cancel")

    async def _fill_form(self, call: _Call, params: types.ElicitRequestFormParams) -> _Answer:
        try:
            fields = forms.read_form(params.requested_schema)
        except ValueError as error:
            return self._refused("a question", str(error))
        head = f"MCP server {self._settings.name} asks: {clean(params.message, MAX_SHOWN_CHARS)}"

        async def fill() -> types.ElicitResult:
            if not fields:
                answer = await self._ask(call, Question(head, (ALLOW, forms.DECLINE)))
                action = _action(answer, forms.DECLINE)
                return types.ElicitResult(action=action, content={} if action == "accept" else None)
            content: dict[str, Any] = {}
            for index, field in enumerate(fields):
                start = head if index == 0 else f"MCP server {self._settings.name} also asks:"
                action, value = await self._fill(call, field, start)
                if action != "accept":
                    return types.ElicitResult(action=action)
                if value is not None:
                    content[field.name] = value
            return types.ElicitResult(action="accept", content=content)

        return await self._within(call, fill)

    async def _fill(self, call: _Call, field: forms.Field, head: str) -> tuple[Any, forms.Value | None]:
        """Ask for one field until the answer fits; return the user's action and the value."""
        for _ in range(MAX_TRIES):
            answers = await self._ask(call, forms.build_question(field, head))
            action = _action(answers, forms.get_decline_answer(field))
            if action != "accept":
                return action, None
            try:
                return "accept", forms.parse_answer(field, answers)
            except ValueError as error:
                head = f"That does not fit: {error}."
        return "cancel", None

    async def _show_page(self, call: _Call, params: types.ElicitRequestURLParams) -> _Answer:
        host = _host(params.url)
        if host is None:
            return self._refused("to open a page", "its address is no http(s) address")
        text = (
            f"MCP server {self._settings.name} asks you to open a page of {host} in your browser:\n"
            f"{params.url}\nIt says: {clean(params.message, MAX_SHOWN_CHARS)}"
        )

        async def show() -> types.ElicitResult:
            answer = await self._ask(call, Question(text, (OPENED, forms.DECLINE)))
            return types.ElicitResult(action=_action(answer, forms.DECLINE))

        return await self._within(call, show)

    async def opens(self, error: MCPError) -> bool:
        """Show the pages that a failed call requires; True if all were opened, so that it can be repeated."""
        call = self._call()
        if error.code != types.URL_ELICITATION_REQUIRED or call is None or call.context.ask is None:
            return False
        try:
            pages = types.ElicitationRequiredErrorData.model_validate(error.error.data).elicitations
        except ValidationError:
            return False
        answers = [await self.elicit(None, page) for page in pages[:MAX_PAGES]]
        return bool(answers) and all(answer == types.ElicitResult(action="accept") for answer in answers)

    async def _ask(self, call: _Call, question: Question) -> tuple[str, ...]:
        assert call.context.ask is not None
        return await call.context.ask(question)

    # ------------------------------------------------------------------ requests to the model

    async def sample(
        self, ctx: Any, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        """Send a request to the model, within the limits of the call's run and if the user allows it."""
        call = self._call()
        if call is None:
            return self._unclear("a request to the model")
        if self._settings.sampling == "deny" or call.context.sample is None:
            return self._refused("a request to the model", "servers may not ask the model here", _REJECTED)
        try:
            wanted = _sample(self._settings.name, params)
        except ValueError as error:
            return self._refused("a request to the model", str(error), types.INVALID_PARAMS)
        try:
            return await self._within(call, lambda: self._sampled(call, wanted))
        except ToolError as error:
            return self._refused("a request to the model", str(error), types.INTERNAL_ERROR)
        except _CallOver:
            return types.ErrorData(code=_REJECTED, message="the call is over")

    async def _sampled(
        self, call: _Call, wanted: SampleRequest
    ) -> types.CreateMessageResult | types.ErrorData:
        if self._settings.sampling == "ask" and not await self._may_sample(call, wanted):
            return self._refused("a request to the model", "the user declined it", _REJECTED)
        assert call.context.sample is not None
        answer = await call.context.sample(wanted)
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(text=answer.text),
            model=answer.model,
            stop_reason=_STOPS.get(answer.stop_reason, answer.stop_reason),
        )

    async def _may_sample(self, call: _Call, wanted: SampleRequest) -> bool:
        if call.context.ask is None:
            return False
        said = [wanted.system] if wanted.system else []
        said += [f"{message.role}: {_words(message)}" for message in wanted.messages]
        shown = clean("\n".join(said), MAX_SHOWN_CHARS)
        text = (
            f"MCP server {self._settings.name} wants to ask the model (at most {wanted.max_tokens} tokens):\n"
            f"{shown}"
        )
        return await self._ask(call, Question(text, (ALLOW, forms.DECLINE))) == (ALLOW,)

    # ------------------------------------------------------------------ the folder

    async def roots(self, ctx: Any) -> types.ListRootsResult:
        """Return the folder that the server works for; the call's folder if it works for all."""
        call = None if self._root else self._call()
        folder = call.context.cwd if call is not None else self._root
        if not folder:
            return types.ListRootsResult(roots=[])
        path = PurePath(folder)
        root = types.Root.model_validate({"uri": path.as_uri(), "name": path.name or path.anchor})
        return types.ListRootsResult(roots=[root])

    def _unclear(self, what: str) -> types.ErrorData:
        return self._refused(what, _UNCLEAR, _REJECTED)

    def _refused(self, what: str, why: str, code: int = types.INVALID_PARAMS) -> types.ErrorData:
        self._note(f"{what} of it was declined: {why}")
        return types.ErrorData(code=code, message=why)


async def _in_turn(call: _Call, doing: Callable[[], Awaitable[_T]]) -> _T:
    async with call.turn:
        return await doing()


def _action(answers: tuple[str, ...], refusal: str) -> Any:
    """Return the protocol's action for an answer; no answer is a cancel."""
    if not answers:
        return "cancel"
    word = answers[0].strip().casefold()
    if len(answers) == 1 and word == "cancel":
        return "cancel"
    return "decline" if refusal in (word, *answers) else "accept"


def _host(url: str) -> str | None:
    """Return the real host of an address that can be shown; None if it cannot."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode()
        port = f":{parts.port}" if parts.port else ""
    except (ValueError, UnicodeError):
        return None
    # A backslash ends the host for a browser, but not for urlsplit.
    is_fit = len(url) <= MAX_URL_CHARS and url.isprintable() and not {" ", "\\"} & set(url)
    return f"{host}{port}" if is_fit and host and parts.scheme in ("http", "https") else None


def _sample(name: str, params: types.CreateMessageRequestParams) -> SampleRequest:
    """Convert a request; raises ValueError."""
    if params.tools or params.tool_choice:
        raise ValueError("tools are not offered to requests of servers")
    if not 0 < len(params.messages) <= MAX_SAMPLE_MESSAGES:
        raise ValueError(f"a request has 1 to {MAX_SAMPLE_MESSAGES} messages")
    if params.max_tokens < 1:
        raise ValueError("max_tokens must be at least 1")
    return SampleRequest(
        by=name,
        messages=tuple(_message(message) for message in params.messages),
        system=params.system_prompt or "",
        max_tokens=min(params.max_tokens, MAX_SAMPLE_TOKENS),
        temperature=params.temperature,
        stop=tuple((params.stop_sequences or ())[:MAX_STOPS]),
    )


def _message(message: types.SamplingMessage) -> Message:
    parts: list[Text | Media] = []
    for content in message.content_as_list:
        match content:
            case types.TextContent(text=text):
                parts.append(Text(text))
            case (
                types.ImageContent(data=data, mime_type=mime) | types.AudioContent(data=data, mime_type=mime)
            ):
                parts.append(Media(mime, data))
            case _:
                raise ValueError("tool calls and results are not taken in requests of servers")
    return Message(message.role, tuple(parts))


def _words(message: Message) -> str:
    return " ".join(
        part.text if isinstance(part, Text) else f"[{part.mime}]"
        for part in message.parts
        if isinstance(part, Text | Media)
    )
