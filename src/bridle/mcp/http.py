"""HTTP to remote servers: a client that limits what it reads, and readable error messages."""

import logging
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2

from bridle.mcp.server_log import HIDDEN, clean_line
from bridle.mcp.settings import ServerSettings

MAX_BODY_BYTES = 16 * 1024 * 1024
CONNECT_S = 10.0
READ_S = 30.0
_KEY = re.compile(r"(?<=/)(?=[^/]*\d)[^/]{20,}")
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


class TooLarge(httpx2.StreamError):
    """An answer is larger than any reasonable one."""


class _Bounded(httpx2.AsyncByteStream):
    """Cuts off a body that is too long."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise TooLarge(f"the answer is larger than {MAX_BODY_BYTES // 1024 // 1024} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    """Limit the size of an answer; the reader of an event stream limits each event instead."""
    if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise httpx2.DecodingError(
            "the answer is compressed, which was not requested", request=response.request
        )
    if not is_event_stream(response) and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


def is_event_stream(response: httpx2.Response) -> bool:
    """True if an answer is an event stream."""
    return str(response.headers.get("content-type", "")).lower().startswith("text/event-stream")


def build_client_arguments(settings: ServerSettings, auth: httpx2.Auth | None) -> dict[str, Any]:
    """Return the arguments of an `httpx2.AsyncClient` for a server."""
    _hush()
    return {
        # Compressed bodies could grow without bound when they are unpacked.
        "headers": {**settings.headers, "accept-encoding": "identity"},
        "auth": auth,
        "timeout": httpx2.Timeout(CONNECT_S, read=READ_S),
        "follow_redirects": False,
        "event_hooks": {"response": [_bound]},
        "mounts": dict.fromkeys(_LOOPBACK),  # a proxy cannot connect to this machine
    }


def _hush() -> None:
    """Keep libraries' log messages off the terminal, and addresses with secrets out of every log."""
    sdk = logging.getLogger("mcp")
    if not sdk.handlers:
        sdk.addHandler(logging.NullHandler())
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def create_client(settings: ServerSettings, auth: httpx2.Auth | None = None) -> httpx2.AsyncClient:
    """Create a client for a server; blocks for about 20 ms to load certificates."""
    return httpx2.AsyncClient(**build_client_arguments(settings, auth))


def redact_url(url: str) -> str:
    """Return an address without possible secrets: user, query, fragment, a key among its folders."""
    try:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(no valid address)"
    path = _KEY.sub(HIDDEN, parts.path)
    return clean_line(urlunsplit((parts.scheme, f"{host}{port}", path, "", "")), 300)


def explain(error: BaseException, url: str) -> str:
    """Return a readable reason why a request failed."""
    if isinstance(error, TooLarge | httpx2.DecodingError | httpx2.SSEError):
        return f"{redact_url(url)} sent an invalid answer: {_why(error)}"
    return f"cannot reach {redact_url(url)}: {_why(error)}"


def _why(error: BaseException) -> str:
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not valid ({clean_line(cause.verify_message, 200)})"
        if isinstance(cause, ssl.SSLError):
            return f"no secure connection could be made ({clean_line(cause.reason or '', 200)})"
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "host not found"
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno).lower()
    match error:
        case httpx2.ConnectTimeout():
            return f"no connection within {CONNECT_S:g} s"
        case httpx2.TimeoutException():
            return "it took too long to answer"
        case httpx2.RemoteProtocolError() | httpx2.ReadError():
            return "the connection was lost"
        case _:
            return clean_line(str(error), 200) or type(error).__name__


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        if isinstance(current, BaseExceptionGroup):
            found.extend(current.exceptions)
        current = current.__cause__ or current.__context__
    return found


def format_status(status: int) -> str:
    """Return a status with its name."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
