"""Send one GET request: every redirect is checked, and only the checked addresses are connected to.

```
url ─▶ addresses looked up and checked ─▶ request to exactly those ─▶ answer
 ▲                                                                      │ 3xx
 └─── same host, or one that the rules allow; at most five times ◀──────┘
```

Importing this module takes as long as importing aiohttp, so the tools import it in their first call.
One table converts the errors of aiohttp to ToolError.
"""

import socket
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from yarl import URL

from bridle import __version__
from bridle.core.errors import ToolError
from bridle.core.permission import judge
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.web.network import Network, check_addresses, is_local_name
from bridle.tools.web.urls import Url, resolve_redirect, shorten

MAX_REDIRECTS = 5
CHUNK_BYTES = 64 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class WebRequest(Struct, frozen=True):
    """A GET request, with the tool and the context it is sent for."""

    url: Url
    tool: str
    """The tool whose rules apply."""
    context: ToolContext
    network: Network
    accept: str = "*/*"
    compressed: bool = False
    """True if the response may be compressed."""
    authorization: str = ""
    """A header that is sent to the host of `url` only."""
    trusted: bool = False
    """True if the user's settings name the host of `url`: it may have any address."""

    def is_for(self, url: Url) -> bool:
        """Return whether a URL, perhaps of a redirect, is on the server that was asked for."""
        return (url.scheme, url.host, url.port) == (self.url.scheme, self.url.host, self.url.port)


class Response:
    """The head of a response, and its body as it arrives."""

    def __init__(self, url: Url, response: aiohttp.ClientResponse) -> None:
        self.url = url
        self.status = response.status
        self.words = shorten(response.reason or "")
        self.media_type = shorten(response.content_type) if "content-type" in response.headers else ""
        self.charset = response.charset or ""
        self.length = response.content_length
        self.encoding = response.headers.get("content-encoding", "").strip().lower()
        self._response = response

    def chunks(self) -> AsyncIterator[bytes]:
        """Return the body piece by piece, as the server sends it."""
        return self._response.content.iter_chunked(CHUNK_BYTES)

    async def read(self, limit: int) -> tuple[bytes, bool]:
        """Return at most `limit` bytes of the decompressed body, and whether the body was cut.

        The limit applies to the compressed and the decompressed size; the rest is not waited for.
        """
        inflater = _Inflater(self.encoding) if self.encoding not in ("", "identity") else None
        body, received = bytearray(), 0
        async for chunk in self.chunks():
            received += len(chunk)
            body += inflater.feed(chunk, limit + 1 - len(body)) if inflater else chunk
            if len(body) > limit or received > limit:
                return bytes(body[:limit]), True
        return bytes(body), False


@asynccontextmanager
async def get(request: WebRequest) -> AsyncGenerator[Response, None]:
    """Send a request and yield its response, whatever its status; raises ToolError until the block ends.

    Nothing is kept between two requests: no connection, no cookie, no address.
    """
    url = request.url
    for _ in range(MAX_REDIRECTS + 1):
        addresses = await _addresses(url, request)
        try:
            async with _session(url, request, addresses) as session, _send(session, url, request) as response:
                location = response.headers.get("location", "")
                if response.status not in _REDIRECTS or not location:
                    yield Response(url, response)
                    return
                url = _next_hop(url, location, request)
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            raise _failure(url, error) from error
    raise ToolError(f"{request.url} redirects more than {MAX_REDIRECTS} times")


def _send(
    session: aiohttp.ClientSession, url: Url, request: WebRequest
) -> "aiohttp.client._RequestContextManager":
    return session.get(
        URL(str(url), encoded=True), allow_redirects=False, proxy=request.network.proxy or None
    )


def _session(url: Url, request: WebRequest, addresses: Sequence[str]) -> aiohttp.ClientSession:
    resolver = None if request.network.proxy else _PinnedResolver(addresses)
    is_secret = request.authorization and request.is_for(url)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # the caller has one deadline for all
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        headers={
            "Accept": request.accept,
            "Accept-Encoding": "gzip, deflate" if request.compressed else "identity",
            "User-Agent": f"bridle/{__version__}",
            **({"Authorization": request.authorization} if is_secret else {}),
        },
    )


async def _addresses(url: Url, request: WebRequest) -> Sequence[str]:
    """Return the addresses to connect to; raises ToolError.

    With a proxy, the proxy looks names up and has to prevent access to internal addresses.
    """
    rules = request.context.rules
    if request.trusted and request.is_for(url):
        return (url.host,) if url.is_literal else await request.network.lookup(url.host)
    if url.is_literal:
        return check_addresses(url.host, (url.host,), request.tool, rules)
    if request.network.proxy and not is_local_name(url.host):
        return ()
    return check_addresses(url.host, await request.network.lookup(url.host), request.tool, rules)


def _next_hop(url: Url, location: str, request: WebRequest) -> Url:
    following = resolve_redirect(url, location)
    if following.host == url.host:
        return following
    access = Access(request.tool, "network", (Subject("domain", following.host),))
    if judge(access, request.context.rules, request.context.mode).action == "allow":
        return following
    raise ToolError(f"{url} redirects to {following.host}; fetch {following} if you want it")


class _PinnedResolver(AbstractResolver):
    """A resolver that always returns the checked addresses, so that no second lookup can differ."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class _Inflater:
    """Decompresses a body piece by piece, never more than the caller's limit."""

    def __init__(self, encoding: str) -> None:
        if encoding not in _WINDOW_BITS:
            raise ToolError(f"the answer has an unexpected compression: {shorten(encoding)}")
        self._is_deflate = encoding == "deflate"
        self._stream = zlib.decompressobj(_WINDOW_BITS[encoding])
        self._is_first = True

    def feed(self, data: bytes, limit: int) -> bytes:
        """Return at most `limit` more bytes; the rest of `data` is lost."""
        if self._is_first and data:
            self._is_first = False
            try:
                return self._stream.decompress(data, limit)
            except zlib.error:
                if not self._is_deflate:
                    raise
                self._stream = zlib.decompressobj(-15)  # many servers send deflate without the zlib header
        return self._stream.decompress(data, limit)


# The first matching row counts: certificate errors are connector errors too, and DNS failures OS errors.
_FAILURES: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.InvalidURL, "the address is invalid"),
    (aiohttp.ClientConnectorCertificateError, "the certificate of the server is not trusted"),
    (aiohttp.ClientSSLError, "no TLS connection is possible"),
    (aiohttp.ClientProxyConnectionError, "the proxy cannot be reached"),
    (aiohttp.ClientConnectorError, "cannot connect"),
    (aiohttp.ClientPayloadError, "the connection was lost during the answer"),
    (aiohttp.ServerDisconnectedError, "the server closed the connection without an answer"),
    (aiohttp.ClientConnectionError, "the connection was lost"),
    (aiohttp.ClientResponseError, "the answer is not HTTP"),
    (aiohttp.ClientError, "the request failed"),
    (zlib.error, "the compressed answer is invalid"),
    (OSError, "the connection was lost"),
)


def _failure(url: Url, error: Exception) -> ToolError:
    what = next(words for kind, words in _FAILURES if isinstance(error, kind))
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    detail = cause.strerror if isinstance(cause, OSError) and cause.strerror else ""
    return ToolError(f"{url}: {what}{': ' if detail else ''}{shorten(detail)}")
