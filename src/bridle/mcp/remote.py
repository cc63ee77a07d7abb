"""Remote MCP servers: opens and monitors an HTTP connection, and explains its failures.

```
mcp.Client ── streams ── SDK (streamable HTTP) or `open_sse` ── _Line ── the server
```

`_HttpClient` is the HTTP client of both. If a protocol request fails on the way, it answers instead of the
server, with a readable error: so one failed request is one failed call, not a lost connection.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
import mcp_types as types
import msgspec
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from msgspec import Struct
from pydantic import ValidationError

from bridle.core.errors import ToolError
from bridle.core.malformed import MALFORMED
from bridle.mcp.http import (
    CONNECT_S,
    MAX_BODY_BYTES,
    READ_S,
    build_client_arguments,
    explain,
    format_status,
    is_event_stream,
    redact_url,
)
from bridle.mcp.login import LoginAuth, has_own_authorization
from bridle.mcp.server_log import ServerLog, clean_line
from bridle.mcp.settings import ServerSettings

# ---------------------------------------------------------------------------- sse
# The 2024 transport (HTTP with SSE): an event stream from the server, and posts to an address it names.


BUFFER = 64  # messages that wait to be posted

Send = anyio.abc.ObjectSendStream[SessionMessage | Exception]
Fail = Callable[[str], ToolError]


@asynccontextmanager
async def open_sse(client: httpx2.AsyncClient, url: str, fail: Fail) -> AsyncGenerator[Any]:
    """Yield the SDK's pair of streams; `fail` is called if the connection ends. Raises ToolError."""
    response = await _get(client, url, fail)
    try:
        events = aiter(httpx2.EventSource(response, max_event_size=MAX_BODY_BYTES))
        endpoint = await _endpoint(events, url, fail)
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = anyio.create_memory_object_stream[SessionMessage](BUFFER)
        async with incoming, received, sent, outgoing:
            tasks = (
                asyncio.create_task(_receive(events, incoming, url, fail)),
                asyncio.create_task(_post(client, endpoint, outgoing, incoming)),
            )
            try:
                yield received, sent
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        await response.aclose()


async def _get(client: httpx2.AsyncClient, url: str, fail: Fail) -> httpx2.Response:
    headers = {"accept": "text/event-stream", "cache-control": "no-store"}
    try:
        response = await client.send(client.build_request("GET", url, headers=headers), stream=True)
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise fail(explain(error, url)) from error
    if response.status_code == 200 and is_event_stream(response):
        return response
    await response.aclose()
    words = f"answered {format_status(response.status_code)}"
    if response.is_redirect:
        words = f"sends elsewhere, to {redact_url(urljoin(url, response.headers.get('location', '')))}"
    elif response.status_code == 200:
        words = "answered with no stream of events (is its transport http?)"
    raise fail(f"{redact_url(url)} {words}")


async def _endpoint(events: AsyncIterator[httpx2.ServerSentEvent], url: str, fail: Fail) -> str:
    """Wait for the address to post to, which must have the same origin."""
    try:
        async for event in events:
            if event.event == "endpoint":
                endpoint = urljoin(url, event.data)
                if urlsplit(endpoint)[:2] != urlsplit(url)[:2]:
                    raise fail(f"{redact_url(url)} wants messages sent elsewhere, to {redact_url(endpoint)}")
                return endpoint
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise fail(explain(error, url)) from error
    raise fail(f"{redact_url(url)} ended the stream of events before it began")


async def _receive(
    events: AsyncIterator[httpx2.ServerSentEvent], incoming: Send, url: str, fail: Fail
) -> None:
    words = f"{redact_url(url)} ended the connection"
    try:
        async for event in events:
            if event.event == "message" and event.data:
                try:
                    message = types.jsonrpc_message_adapter.validate_json(event.data, by_name=False)
                except ValidationError as error:
                    await incoming.send(error)
                else:
                    await incoming.send(SessionMessage(message))
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        words = explain(error, url)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # no reader is left
    fail(words)
    await incoming.aclose()


async def _post(client: httpx2.AsyncClient, endpoint: str, outgoing: Any, incoming: Send) -> None:
    async for item in outgoing:
        message = item.message
        body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        response = await client.send(client.build_request("POST", endpoint, json=body), stream=True)
        try:
            if response.status_code >= 300 and isinstance(message, types.JSONRPCRequest):
                words = await _words(response)
                error = types.ErrorData(code=types.INTERNAL_ERROR, message=words)
                reply = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await incoming.send(SessionMessage(reply))
        finally:
            await response.aclose()


async def _words(response: httpx2.Response) -> str:
    """Return the error message that the client has put into a failed answer."""
    if response.status_code < 400:
        return f"answered {format_status(response.status_code)}"
    await response.aread()
    return str(response.json()["error"]["message"])


# ---------------------------------------------------------------------------- remote


NOTIFY_S = 10.0
MAX_ANSWER_S = 3600.0
LEAVE_S = 2.0
MAX_WHY_CHARS = 200
_SESSION = "mcp-session-id"
_FORGOTTEN = "it lost the session and was reconnected; make the call again"

_E = TypeVar("_E", bound=BaseException)


class LoginNeeded(ToolError):
    """The server requires a login; `url` is its address."""

    def __init__(self, name: str, url: str) -> None:
        super().__init__(f"MCP server {name} at {url} needs a login", hint=f"bridle mcp login {name}")
        self.url = url


class HttpTransport(AbstractAsyncContextManager[Any]):
    """A transport for `mcp.Client`; entering it returns the SDK's pair of streams.

    Leaving it with an error raises LoginNeeded or another ToolError instead, if the connection has recorded a
    more exact reason.
    """

    def __init__(self, settings: ServerSettings, home: Path) -> None:
        self._settings = settings
        self._home = home
        self._stack = AsyncExitStack()
        self._problem: ToolError | None = None

    async def __aenter__(self) -> Any:
        self._lost: asyncio.Future[ToolError] = asyncio.get_running_loop().create_future()
        settings = self._settings
        auth = None if has_own_authorization(settings) else LoginAuth(settings, self._home)
        try:
            httpx2.URL(settings.url)  # reports an invalid address now
            line = await asyncio.to_thread(_HttpClient, settings, auth, self)
            await self._stack.enter_async_context(line)
            if settings.transport == "sse":
                return await self._stack.enter_async_context(open_sse(line, settings.url, self.fail))
            streams = streamable_http_client(
                settings.url, http_client=line, max_sse_event_size=MAX_BODY_BYTES
            )
            return await self._stack.enter_async_context(streams)
        except (httpx2.InvalidURL, ValueError) as error:
            raise self._failed("its address or a header of its settings is not valid") from error
        except BaseException:
            await self._stack.aclose()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            if isinstance(error, Exception):  # the SDK would only wrap it into a group
                await self._stack.aclose()
            elif await self._stack.__aexit__(kind, error, trace):
                return True
        except BaseExceptionGroup as group:
            if group.split(asyncio.CancelledError)[0] is not None:
                raise
            raise self._problem or self._failed(explain(group, self._settings.url)) from group
        if isinstance(error, Exception) and _find(error, ToolError) is None:
            said = _find(error, MCPError)
            if self._problem is not None or said is not None:
                raise self._problem or self._failed(clean_line(str(said))) from error
        return None

    async def lost(self) -> ToolError:
        """Wait until the connection can no longer be used, and return why (possibly LoginNeeded)."""
        return await asyncio.shield(self._lost)

    # ------------------------------------------------------------------ reports from the HTTP client

    def note(self, words: str) -> None:
        """Record why the last request failed; an empty text means that it succeeded."""
        if not self._lost.done():
            self._problem = self._failed(words) if words else None

    def fail(self, words: str) -> ToolError:
        """Record that the connection can no longer be used."""
        return self._give_up(self._failed(words))

    def require_login(self) -> None:
        """Record that the server requires a login."""
        self._give_up(LoginNeeded(self._settings.name, redact_url(self._settings.url)))

    def _give_up(self, problem: ToolError) -> ToolError:
        """Keep the first reason: later ones are its consequences."""
        if not self._lost.done():
            self._lost.set_result(problem)
        self._problem = self._lost.result()
        return self._problem

    def _failed(self, words: str) -> ToolError:
        return ToolError(f"MCP server {self._settings.name}: {words}")


def _find(error: BaseException, kind: type[_E]) -> _E | None:
    """Return the first error of a type, also from inside a group; None if there is none."""
    if isinstance(error, kind):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next(filter(None, (_find(one, kind) for one in inner)), None)


def open_transport(settings: ServerSettings, home: Path) -> HttpTransport:
    """Return the transport of a server with transport `http` or `sse`; `home` holds the logins."""
    return HttpTransport(settings, home)


class _Sent(Struct):
    """The relevant fields of a message: with both it is a request, which expects an answer."""

    id: int | str | None = None
    method: str = ""

    @property
    def is_request(self) -> bool:
        return self.id is not None and bool(self.method)


class _HttpClient(httpx2.AsyncClient):
    """The HTTP client of one connection."""

    def __init__(self, settings: ServerSettings, auth: httpx2.Auth | None, remote: HttpTransport) -> None:
        super().__init__(**build_client_arguments(settings, auth))
        self._settings = settings
        self._remote = remote
        self._logs_in = auth is not None
        self._words = ServerLog(settings)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; if one with a message fails, return an error answer of our own."""
        sent = _read(request)
        request.extensions["timeout"] = self._timeouts(request, sent).as_dict()
        if sent is None:
            response = await super().send(request, **options)
            if response.status_code == 401:
                await response.aclose()
                self._refuse()
            return response
        try:
            response = await super().send(request, **options)
            return await self._judge(sent, response)
        except (httpx2.HTTPError, httpx2.StreamError, ToolError) as error:
            words = str(error) if isinstance(error, ToolError) else explain(error, self._settings.url)
            self._remote.note(words)
            return _answer(503, request, sent, types.INTERNAL_ERROR, words)

    def _timeouts(self, request: httpx2.Request, sent: _Sent | None) -> httpx2.Timeout:
        """Return how long to wait between bytes; a call also has its own time limit."""
        if request.method == "GET":  # a stream that may be silent for hours
            return httpx2.Timeout(CONNECT_S, write=READ_S, read=None)
        if sent is None:
            return httpx2.Timeout(LEAVE_S)
        answers_later = self._settings.transport == "sse" or not sent.is_request
        read = NOTIFY_S if answers_later else max(MAX_ANSWER_S, 10 * self._settings.timeout_s)
        return httpx2.Timeout(CONNECT_S, write=READ_S, read=read)

    async def _judge(self, sent: _Sent, response: httpx2.Response) -> httpx2.Response:
        if response.status_code >= 400:
            return await self._judge_failure(sent, response)
        self._remote.note("")
        if response.is_redirect or is_event_stream(response) or not sent.is_request:
            return response
        try:
            await response.aread()
        finally:
            await response.aclose()
        return response

    async def _judge_failure(self, sent: _Sent, response: httpx2.Response) -> httpx2.Response:
        request, status = response.request, response.status_code
        try:
            body = await response.aread()
        finally:
            await response.aclose()
        said = _error(body)
        if status == 401:
            return _answer(401, request, sent, types.INTERNAL_ERROR, self._refuse())
        speaks_of_session = status == 400 and b"session" in body[:4096].lower()  # many servers say it so
        if _SESSION in request.headers and (status == 404 or speaks_of_session):
            self._remote.fail(_FORGOTTEN)
            return _answer(404, request, sent, types.INVALID_REQUEST, _FORGOTTEN)
        if said is not None:
            self._remote.note(clean_line(said.message, MAX_WHY_CHARS))
            return _answer(status, request, sent, said.code, said.message, said.data)
        words = self._status_words(response, body)
        self._remote.note(words)
        code = types.METHOD_NOT_FOUND if status == 404 else types.INTERNAL_ERROR
        return _answer(status, request, sent, code, words)

    def _refuse(self) -> str:
        """Record that the server does not accept our credentials; return a text about it."""
        if self._logs_in:
            self._remote.require_login()
            return f"it needs a login (hint: bridle mcp login {self._settings.name})"
        words = f"{redact_url(self._settings.url)} does not accept the Authorization header of its settings"
        self._remote.fail(words)
        return words

    def _status_words(self, response: httpx2.Response, body: bytes) -> str:
        words = f"{redact_url(self._settings.url)} answered {format_status(response.status_code)}"
        if str(response.headers.get("content-type", "")).startswith(("text/plain", "application/json")):
            said = clean_line(self._words.mask(body[:4096].decode("utf-8", "replace")), MAX_WHY_CHARS)
            words += f": {said}" if said else ""
        if response.status_code == 403 and self._logs_in:
            words += f" (hint: bridle mcp login {self._settings.name})"
        return words


class _Error(Struct):
    code: int
    message: str
    data: Any = None


class _Answer(Struct):
    error: _Error


def _error(body: bytes) -> _Error | None:
    """Parse a protocol error; None if it is not one."""
    try:
        return msgspec.json.decode(body, type=_Answer).error
    except MALFORMED:
        return None


def _read(request: httpx2.Request) -> _Sent | None:
    """Return the message in a request; None if there is none."""
    if request.method != "POST":
        return None
    try:
        return msgspec.json.decode(request.content, type=_Sent)
    except MALFORMED:
        return None


def _answer(
    status: int, request: httpx2.Request, sent: _Sent, code: int, words: str, data: Any = None
) -> httpx2.Response:
    error = {"code": code, "message": words} | ({} if data is None else {"data": data})
    message = {"jsonrpc": "2.0", "id": sent.id, "error": error}
    return httpx2.Response(status, json=message, request=request)
