"""The one HTTP client behind every vendor: JSON out, server-sent events in.

```
provider ── post ──▶ head: status and type judged (failure.refused)
         ◀─ events ── body: bytes ─▶ SseParser ─▶ the events of one read at a time
         ── leave ──▶ whole: the connection is kept; broken off or cancelled: it is closed
```

Importing this module costs the time of importing aiohttp: `catalog` does it when a model needs a network.
What aiohttp raises leaves here as a ProviderError, from one table.
"""

import asyncio
import io
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, Self, TypeVar

import aiohttp
import msgspec
from msgspec import Struct

from bridle import __version__
from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.malformed import MALFORMED
from bridle.providers.failure import malformed, refused, timed_out
from bridle.providers.sse import ServerEvent, SseError, SseParser

CONNECT_TIMEOUT_S = 15.0
IDLE_TIMEOUT_S = 300.0  # a local model may read a long prompt for minutes before its first byte
KEEP_ALIVE_S = 60.0
DRAIN_S = 0.25  # how long a finished stream may take to close before its connection is given up
ERROR_BODY_S = 5.0
MAX_WRITE_BYTES = 1024 * 1024  # aiohttp warns beyond this: one long write would block the loop
MAX_ERROR_BYTES = 64 * 1024
_SECRET_HEADER = re.compile("auth|key|token|cookie|secret", re.IGNORECASE)
_NO_STREAM = ("text/html", "application/json", "application/xml", "text/xml")

_T = TypeVar("_T")


class Endpoint(Struct, frozen=True):
    """Where a provider's requests go."""

    who: str
    """The provider's name, for error texts."""
    url: str
    headers: dict[str, str] = {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the texts that must never appear in an error, however a server quotes them."""
        values = [value for name, value in self.headers.items() if _SECRET_HEADER.search(name)]
        return tuple(word for value in values for word in (value, *value.split()[1:]) if word)


class EventStream:
    """The answer to one request: an iterator over the events of each read.

    A list at a time, because a step of an asynchronous iterator costs more than reading an event.
    """

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content
        self._parser = SseParser()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[ServerEvent]:
        while not self._content.at_eof():
            events = self._parser.feed(await self._content.readany())
            if events:
                return events
        raise StopAsyncIteration


class HttpClient:
    """Keeps connections to a vendor open between requests."""

    def __init__(
        self, *, connect_timeout_s: float = CONNECT_TIMEOUT_S, idle_timeout_s: float = IDLE_TIMEOUT_S
    ) -> None:
        self._timeouts = aiohttp.ClientTimeout(connect=connect_timeout_s, sock_read=idle_timeout_s)
        self._opened: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def post(self, endpoint: Endpoint, body: bytes) -> AsyncIterator[EventStream]:
        """Send a request and hold its answer; whatever goes wrong until it is left is a ProviderError."""
        try:
            async with await self._send(endpoint, body) as response:
                kind = response.content_type if "content-type" in response.headers else ""
                if response.status != 200 or kind in _NO_STREAM:
                    raise await _refusal(endpoint, response)
                try:
                    yield EventStream(response.content)
                except BaseException:
                    response.close()
                    raise
                await _drain(response)
        except SseError as error:
            raise malformed(endpoint.who, str(error)) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # The text of a response error quotes the answer, and an answer may quote our key.
            cause = None if isinstance(error, aiohttp.ClientResponseError) else error
            raise failure_of(endpoint.who, error, self._timeouts) from cause

    async def _send(self, endpoint: Endpoint, body: bytes) -> aiohttp.ClientResponse:
        """Return the head of the answer.

        A server may close a kept connection at the moment we use it (llama-server does after every
        stream). Nothing was answered then, so the request is sent again; each try uses up one stale
        connection, and a new one is never stale.
        """
        while True:
            sending = _Sending()
            _current.set(sending)
            try:
                return await self._session().post(
                    endpoint.url,
                    data=io.BytesIO(body) if len(body) > MAX_WRITE_BYTES else body,
                    headers=endpoint.headers,
                    allow_redirects=False,  # a key must not travel to another host
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
                if sending.has_connected or isinstance(error, aiohttp.ClientConnectorError):
                    raise

    async def aclose(self) -> None:
        """Close every connection; the client can be used again afterwards."""
        if self._opened is not None:
            session, self._opened = self._opened, None
            await session.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None or self._opened.closed:
            self._opened = aiohttp.ClientSession(
                # No limit, as sessions bound their calls themselves; kept long enough for a slow tool.
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=KEEP_ALIVE_S, socket_factory=_new_socket
                ),
                timeout=self._timeouts,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={
                    "Accept": "text/event-stream",
                    "Accept-Encoding": "identity",  # a compressing proxy would hold tokens back
                    "Content-Type": "application/json",
                    "User-Agent": f"bridle/{__version__}",
                },
            )
        return self._opened


class _Sending:
    """One try to send a request."""

    has_connected = False
    """It has made a connection of its own: what it used was not a kept one."""


_current: ContextVar[_Sending] = ContextVar("sending")


def _new_socket(address: tuple[Any, ...]) -> socket.socket:
    """Make the socket of a new connection, and let who waits for it know; a trace costs ten times as much."""
    _current.get().has_connected = True
    family, kind, protocol, *_ = address
    return socket.socket(family, kind, protocol)


# The first row that fits counts: certificates are connector errors too, and DNS failures OS errors.
_FAILURES: tuple[tuple[type[Exception], ProviderErrorKind, str, str], ...] = (
    (aiohttp.InvalidURL, "invalid_request", "the address is not usable", "check the provider's base_url"),
    (aiohttp.ClientSSLError, "unknown", "the TLS connection is not trusted", "check the certificate"),
    (aiohttp.ClientConnectorDNSError, "connection_reset", "the host is not found", "check the network"),
    (aiohttp.ClientConnectorError, "connection_reset", "cannot connect", "check that the server is running"),
    (aiohttp.ClientPayloadError, "connection_reset", "the connection broke off", ""),
    (aiohttp.ClientConnectionError, "connection_reset", "the connection broke off", ""),
    (aiohttp.ClientResponseError, "server_error", "the answer is not HTTP", "check the provider's base_url"),
    (aiohttp.ClientError, "unknown", "the request failed", ""),
    (OSError, "connection_reset", "the connection broke off", ""),
)


def failure_of(who: str, error: Exception, timeouts: aiohttp.ClientTimeout) -> ProviderError:
    """Say in our words what went wrong on the network."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return ProviderError(f"{who}: no connection within {timeouts.connect:g} s", kind="network_timeout")
    if isinstance(error, TimeoutError):
        return timed_out(who, timeouts.sock_read or 0)
    kind, what, hint = next(row[1:] for row in _FAILURES if isinstance(error, row[0]))
    return ProviderError(f"{who}: {what}{_detail(error)}", kind=kind, hint=hint)


def decode_event(decoder: "msgspec.json.Decoder[_T]", who: str, data: bytes) -> _T:
    """Decode an event's payload; raises ProviderError when it is not what the API promises."""
    try:
        return decoder.decode(data)
    except MALFORMED:
        pass
    try:
        return decoder.decode(_mended(data))
    except MALFORMED as error:
        raise malformed(who, str(error)) from error


_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def _mended(data: bytes) -> bytes:
    """Put U+FFFD for what is not text: the SSE standard asks for it, and some servers split characters."""
    return _LONE_SURROGATE.sub(rb"\\ufffd", data.decode("utf-8", "replace").encode())


async def _refusal(endpoint: Endpoint, response: aiohttp.ClientResponse) -> ProviderError:
    body = bytearray()
    with suppress(TimeoutError, aiohttp.ClientError):  # the status says enough
        async with asyncio.timeout(ERROR_BODY_S):
            while not response.content.at_eof() and len(body) < MAX_ERROR_BYTES:
                body += await response.content.readany()
    headers = {name.lower(): value for name, value in response.headers.items()}
    return refused(endpoint.who, response.status, headers, bytes(body), secrets=endpoint.secrets)


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read the end of a finished stream, so that its connection can serve the next request."""
    if response.content.at_eof():
        return
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(DRAIN_S):
            while not response.content.at_eof():
                await response.content.readany()
            return
    response.close()


def _detail(error: Exception) -> str:
    """Add the system's words; those of a response error would quote the request."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    text = cause.strerror if isinstance(cause, OSError) else ""
    return f": {text}" if text else ""
