"""HTTP client for all vendor APIs: posts JSON, reads server-sent events.

```
provider ── post ──▶ head: check status and content type (failure.refused)
         ◀─ events ── body: bytes ─▶ SseParser ─▶ a list of events per read
         ── exit ───▶ complete: keep the connection; broken or cancelled: close it
```

Importing this module imports aiohttp, which is slow, so `catalog` does it only when a model needs the
network. Every aiohttp exception becomes a ProviderError, by one table.
"""

import asyncio
import io
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, Protocol, Self, TypeVar

import aiohttp
import msgspec
from msgspec import Struct

from bridle import __version__
from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.malformed import MALFORMED
from bridle.providers.errors import malformed_error, response_error, timeout_error
from bridle.providers.sse import AWS_EVENTS, AwsEventParser, ServerEvent, SseError, SseParser

CONNECT_TIMEOUT_S = 15.0
IDLE_TIMEOUT_S = 300.0  # a local model may process a long prompt for minutes before it sends a byte
KEEP_ALIVE_S = 60.0
DRAIN_S = 0.25  # a finished stream that takes longer to close loses its connection
ERROR_BODY_S = 5.0
MAX_WRITE_BYTES = 1024 * 1024  # aiohttp warns above this: one long write would block the loop
MAX_ERROR_BYTES = 64 * 1024
_SECRET_HEADER = re.compile("auth|key|token|cookie|secret", re.IGNORECASE)
_NO_STREAM = ("text/html", "application/json", "application/xml", "text/xml")

_T = TypeVar("_T")


class Sign(Protocol):
    """Signs requests with credentials that change while the program runs."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What the last signature must not show, such as an access token."""
        ...

    async def __call__(self, url: str, body: bytes) -> dict[str, str]:
        """Return the headers that sign a request; raises ProviderError."""
        ...


class Endpoint(Struct, frozen=True):
    """Address and headers of a provider's requests."""

    who: str
    """The provider's name, for error messages."""
    url: str
    headers: dict[str, str] = {}
    sign: Sign | None = None
    """Returns more headers for a request, from its address and body."""

    async def signed(self, body: bytes) -> "Endpoint":
        """Return the endpoint with the headers that sign a request; raises ProviderError."""
        if self.sign is None:
            return self
        return Endpoint(self.who, self.url, {**self.headers, **await self.sign(self.url, body)})

    @property
    def secrets(self) -> tuple[str, ...]:
        """Strings that must never appear in an error, such as the key with and without its scheme."""
        values = [value for name, value in self.headers.items() if _SECRET_HEADER.search(name)]
        signed = self.sign.secrets if self.sign is not None else ()
        return (*signed, *(word for value in values for word in (value, *value.split()[1:]) if word))


class EventStream:
    """The streamed response to one request: iterates over the events of each read.

    It yields lists because one step of an asynchronous iterator costs more than parsing an event.
    """

    def __init__(self, content: aiohttp.StreamReader, content_type: str = "") -> None:
        self._content = content
        self._parser = AwsEventParser() if content_type == AWS_EVENTS else SseParser()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[ServerEvent]:
        while not self._content.at_eof():
            events = self._parser.feed(await self._content.readany())
            if events:
                return events
        raise StopAsyncIteration


class HttpClient:
    """An HTTP client that keeps connections open between requests."""

    def __init__(
        self, *, connect_timeout_s: float = CONNECT_TIMEOUT_S, idle_timeout_s: float = IDLE_TIMEOUT_S
    ) -> None:
        self._timeouts = aiohttp.ClientTimeout(connect=connect_timeout_s, sock_read=idle_timeout_s)
        self._opened: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def post(self, endpoint: Endpoint, body: bytes) -> AsyncIterator[EventStream]:
        """Send a request and stream its response; every failure inside the block raises ProviderError."""
        endpoint = await endpoint.signed(body)
        try:
            async with await self._send(endpoint, body) as response:
                kind = response.content_type if "content-type" in response.headers else ""
                if response.status != 200 or kind in _NO_STREAM:
                    raise await _read_error_response(endpoint, response)
                try:
                    yield EventStream(response.content, kind)
                except BaseException:
                    response.close()
                    raise
                await _drain(response)
        except SseError as error:
            raise malformed_error(endpoint.who, str(error)) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # The text of a response error quotes the response, which may contain our key.
            cause = None if isinstance(error, aiohttp.ClientResponseError) else error
            raise network_error(endpoint.who, error, self._timeouts) from cause

    async def _send(self, endpoint: Endpoint, body: bytes) -> aiohttp.ClientResponse:
        """Send the request and return the response once its head arrived.

        A server may close an idle connection just as we use it (llama-server does after every stream).
        It has not responded then, so we send the request again. Each attempt uses up one stale connection,
        and a new one is never stale.
        """
        while True:
            sending = _SendAttempt()
            _current.set(sending)
            try:
                return await self._session().post(
                    endpoint.url,
                    data=io.BytesIO(body) if len(body) > MAX_WRITE_BYTES else body,
                    headers=endpoint.headers,
                    allow_redirects=False,  # do not send the key to another host
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
                if sending.has_connected or isinstance(error, aiohttp.ClientConnectorError):
                    raise

    async def aclose(self) -> None:
        """Close every connection; the client remains usable."""
        if self._opened is not None:
            session, self._opened = self._opened, None
            await session.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None or self._opened.closed:
            self._opened = aiohttp.ClientSession(
                # No limit: sessions limit their requests. Connections stay open while a slow tool runs.
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=KEEP_ALIVE_S, socket_factory=_new_socket
                ),
                timeout=self._timeouts,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={
                    "Accept": "text/event-stream",
                    "Accept-Encoding": "identity",  # a compressing proxy would delay tokens
                    "Content-Type": "application/json",
                    "User-Agent": f"bridle/{__version__}",
                },
            )
        return self._opened


class _SendAttempt:
    """One attempt to send a request."""

    has_connected = False
    """True if the attempt opened a new connection instead of reusing one."""


_current: ContextVar[_SendAttempt] = ContextVar("sending")


def _new_socket(address: tuple[Any, ...]) -> socket.socket:
    """Create the socket of a new connection and note it; an aiohttp trace would cost ten times as much."""
    _current.get().has_connected = True
    family, kind, protocol, *_ = address
    return socket.socket(family, kind, protocol)


# The first matching row wins: certificate errors are connector errors too, and DNS errors are OS errors.
_FAILURES: tuple[tuple[type[Exception], ProviderErrorKind, str, str], ...] = (
    (aiohttp.InvalidURL, "invalid_request", "the address is invalid", "check the provider's base_url"),
    (aiohttp.ClientSSLError, "unknown", "the TLS connection is not trusted", "check the certificate"),
    (aiohttp.ClientConnectorDNSError, "connection_reset", "the host is not found", "check the network"),
    (aiohttp.ClientConnectorError, "connection_reset", "cannot connect", "check that the server is running"),
    (aiohttp.ClientPayloadError, "connection_reset", "the connection was lost", ""),
    (aiohttp.ClientConnectionError, "connection_reset", "the connection was lost", ""),
    (aiohttp.ClientResponseError, "server_error", "the answer is not HTTP", "check the provider's base_url"),
    (aiohttp.ClientError, "unknown", "the request failed", ""),
    (OSError, "connection_reset", "the connection was lost", ""),
)


def network_error(who: str, error: Exception, timeouts: aiohttp.ClientTimeout) -> ProviderError:
    """Return the ProviderError for an aiohttp or network exception."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return ProviderError(f"{who}: no connection within {timeouts.connect:g} s", kind="network_timeout")
    if isinstance(error, TimeoutError):
        return timeout_error(who, timeouts.sock_read or 0)
    kind, what, hint = next(row[1:] for row in _FAILURES if isinstance(error, row[0]))
    return ProviderError(f"{who}: {what}{_detail(error)}", kind=kind, hint=hint)


def decode_event(decoder: "msgspec.json.Decoder[_T]", who: str, data: bytes) -> _T:
    """Decode an event's payload; raises ProviderError if it does not match the API."""
    try:
        return decoder.decode(data)
    except MALFORMED:
        pass
    try:
        return decoder.decode(_repair_text(data))
    except MALFORMED as error:
        raise malformed_error(who, str(error)) from error


_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def _repair_text(data: bytes) -> bytes:
    """Replace invalid text with U+FFFD, as the SSE standard requires; some servers split characters."""
    return _LONE_SURROGATE.sub(rb"\\ufffd", data.decode("utf-8", "replace").encode())


async def _read_error_response(endpoint: Endpoint, response: aiohttp.ClientResponse) -> ProviderError:
    body = bytearray()
    with suppress(TimeoutError, aiohttp.ClientError):  # the status is enough
        async with asyncio.timeout(ERROR_BODY_S):
            while not response.content.at_eof() and len(body) < MAX_ERROR_BYTES:
                body += await response.content.readany()
    headers = {name.lower(): value for name, value in response.headers.items()}
    return response_error(endpoint.who, response.status, headers, bytes(body), secrets=endpoint.secrets)


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read the rest of a finished stream, so that its connection can be reused."""
    if response.content.at_eof():
        return
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(DRAIN_S):
            while not response.content.at_eof():
                await response.content.readany()
            return
    response.close()


def _detail(error: Exception) -> str:
    """Return the system's error text, if any; the text of a response error would quote the request."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    text = cause.strerror if isinstance(cause, OSError) else ""
    return f": {text}" if text else ""
