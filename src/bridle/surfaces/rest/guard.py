"""Access control: checks every request before the app sees it, including WebSocket upgrades.

| checked | refused with | reason |
|---|---|---|
| Host | 421 | a foreign name that points to this machine (DNS rebinding) |
| Origin, Sec-Fetch-Site | 403 | a page of another site |
| Authorization, the login cookie | 401, 429 | a missing or wrong token; too many wrong ones |
| the token's principal | 503 | unknown, because the store is unavailable |
| the body | 413, 415, 503 | see `body` |

A cookie is valid for Bridle's own page only: a request that changes something must have its Origin. Wrong
tokens never delay a right one. For a token other than the owner's, `principal` in the scope names its user.
Every response has headers that forbid caching, content sniffing and framing.
"""

import hmac
import math
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from ipaddress import AddressValueError, IPv6Address
from typing import Literal

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridle.core.errors import BridleError
from bridle.core.tenancy import BEGIN, Principal
from bridle.surfaces.rest.body import BodyReader
from bridle.surfaces.rest.connection import ADMIT
from bridle.surfaces.rest.problem_document import (
    HOST_REFUSED,
    ORIGIN_REFUSED,
    TOO_MANY_ATTEMPTS,
    UNAUTHORIZED,
    ProblemDocument,
    ProblemResponse,
    document,
    document_of,
)

# ---------------------------------------------------------------------------- authority
# Parses the Host header of a request strictly.
#
# ```
# authority = host [ ":" port ]
# host      = "[" IPv6 address "]" / IPv4 address / name of letters, digits, dots, dashes and underscores
# port      = 1 to 65535, in digits
# ```
#
# Anything else is not a host: `[::1].evil.com` is not `::1`, and `127.0.0.1:1:evil` is not `127.0.0.1`.


MAX_PORT = 65535

_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::([0-9]{1,5}))?", re.ASCII)
_SCHEMES = {"http": 80, "https": 443}


class Authority(Struct, frozen=True):
    """A host, and the port if one is given."""

    host: str
    """In lower case; an IPv6 address without brackets, in its shortest form."""
    port: int | None = None


def authority_of(text: str) -> Authority | None:
    """Parse a Host header; return None if it is not exactly a host with an optional port."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    literal, name, digits = match.groups()
    port = int(digits) if digits is not None else None
    host = name.lower() if name is not None else _ipv6(literal)
    if host is None or port == 0 or (port is not None and port > MAX_PORT):
        return None
    return Authority(host, port)


def origin_of(text: str) -> tuple[str, Authority] | None:
    """Parse an Origin header into scheme and authority; the port defaults to the scheme's."""
    scheme, mark, rest = text.partition("://")
    authority = authority_of(rest) if mark and scheme.lower() in _SCHEMES else None
    return (scheme.lower(), with_port(authority, scheme.lower())) if authority is not None else None


def with_port(authority: Authority, scheme: str) -> Authority:
    """Return an authority with the scheme's default port if it has none."""
    return authority if authority.port is not None else Authority(authority.host, _SCHEMES[scheme])


def host_name(host: str) -> str:
    """Return a configured host in the form of `Authority.host`."""
    return _ipv6(host) or host.lower()


def _ipv6(text: str) -> str | None:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        return None


# ---------------------------------------------------------------------------- guard


OPEN_PATHS = frozenset({"/health", "/ready", "/openapi.json"})
"""Paths that need no token."""
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
BEARER_PROTOCOL = "bearer."
"""Prefix of the subprotocol that carries a token: a page cannot set the headers of a WebSocket."""
NEW_LOGIN = "bridle web makes a new login"
READING = ("GET", "HEAD")
MAX_WRONG = 10
WRONG_WITHIN_S = 60.0

SECURITY_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
EXPOSED = "content-location, etag, location, retry-after, www-authenticate"
PREFLIGHT = {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": (
        "authorization, content-type, idempotency-key, if-match, last-event-id, prefer"
    ),
    "access-control-max-age": "600",
}


class WrongTokenCounter:
    """Counts wrong tokens."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._times: deque[float] = deque(maxlen=MAX_WRONG)

    def add(self) -> int:
        """Count one; return the seconds to wait if there were too many before it, else 0."""
        now = self._now()
        if len(self._times) == MAX_WRONG and now - self._times[0] < WRONG_WITHIN_S:
            return math.ceil(WRONG_WITHIN_S - (now - self._times[0]))
        self._times.append(now)
        return 0


Login = Literal["none", "good", "expired", "wrong"]


class WebPage(Struct, frozen=True):
    """Describes Bridle's own web page, if the same server serves it."""

    login: Callable[[Headers], Login]
    """Checks the login cookie of a request."""
    pages: frozenset[str]
    """Pages that a browser may open without a login, from any site."""
    files: str
    """The path prefix of static files, which need no login because they are the same for everyone."""

    def is_open(self, path: str) -> bool:
        """Return True if a path needs no login."""
        return path in self.pages or path.startswith(self.files)


Principals = Callable[[str], Awaitable[Principal | None]]
"""Returns the principal of a token; raises StoreError."""


class Refusal(Struct, frozen=True):
    """Why a request is refused."""

    problem: ProblemDocument
    headers: dict[str, str] = {}


class Guard:
    """Wraps an app and admits only authorized requests."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str = "",
        hosts: Collection[str] = (),
        origins: Collection[str] = (),
        headers: Sequence[str] = (),
        page: WebPage | None = None,
        open_paths: Collection[str] = (),
        principals: Principals | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Require `token` unless it is empty; accept requests for `hosts` and from pages of `origins`.

        `headers` are the app's additional headers that pages may send and read; `page` is Bridle's own page;
        `open_paths` need no token; `principals` resolves tokens other than the owner's.
        """
        self._app = BodyReader(app)
        self._token = token.encode()
        self._hosts = LOCAL_HOSTS | {host_name(host) for host in hosts}
        self._origins = frozenset(origin.lower() for origin in origins)
        self._page = page
        self._open_paths = OPEN_PATHS | frozenset(open_paths)
        self._principals = principals
        self._attempts = WrongTokenCounter(now)
        allowed = ", ".join([PREFLIGHT["access-control-allow-headers"], *headers])
        self._preflight = {**PREFLIGHT, "access-control-allow-headers": allowed}
        self._exposed = ", ".join([EXPOSED, *headers]).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the app, or refuse it with a problem document."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        added = [*SECURITY_HEADERS, *self._cors(headers)]
        send = _adding(send, added, _offered(scope))
        refusal = await self._refuse(scope, headers)
        if refusal is None and not self._is_for_all(scope, headers):
            scope.get("state", {}).get(ADMIT, _nothing)()
        if refusal is not None:
            response: ASGIApp = ProblemResponse(refusal.problem, refusal.headers)
        elif scope["type"] == "http" and _is_preflight(scope, headers):
            response = Response(status_code=204, headers=self._preflight)
        else:
            response = self._app
        await response(scope, receive, send)

    async def _refuse(self, scope: Scope, headers: Headers) -> Refusal | None:
        hosts = headers.getlist("host")
        authority = authority_of(hosts[0]) if len(hosts) == 1 else None
        if authority is None or authority.host not in self._hosts:
            return Refusal(document(HOST_REFUSED, hint="add the name to http.hosts, if it is yours"))
        if not self._may_come_from(headers, hosts[0]) and not self._is_visit(scope, headers):
            return Refusal(document(ORIGIN_REFUSED, hint="add it to http.origins, if it is yours"))
        if self._is_for_all(scope, headers) or not self._token:
            return None
        try:
            scope["principal"] = await self._principal(scope, headers)
        except BridleError as error:
            return Refusal(document_of(error))
        return None if scope["principal"] is not None else self._refuse_unknown(scope, headers, hosts[0])

    async def _principal(self, scope: Scope, headers: Headers) -> Principal | None:
        """Return the principal of the presented token if it is not the owner's; raises StoreError."""
        given = _given_tokens(scope, headers)
        if self._principals is None or len(given) != 1 or not given[0].startswith(BEGIN):
            return None
        return await self._principals(given[0])

    def _is_for_all(self, scope: Scope, headers: Headers) -> bool:
        """Return True for requests that need no token."""
        path = scope["path"]
        is_open = path in self._open_paths or (self._page is not None and self._page.is_open(path))
        return scope["type"] == "http" and (is_open or _is_preflight(scope, headers))

    def _is_visit(self, scope: Scope, headers: Headers) -> bool:
        """Return True if a browser follows a link to Bridle's page, which shows nothing without a login."""
        return (
            self._page is not None
            and scope["type"] == "http"
            and scope["method"] in READING
            and scope["path"] in self._page.pages
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
            and "origin" not in headers
        )

    def _may_come_from(self, headers: Headers, host: str) -> bool:
        """Return True if no page sent the request, or Bridle's own page, or a page of an allowed origin."""
        origins = headers.getlist("origin")
        if not origins:
            return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        return len(origins) == 1 and (_is_own(origins[0], host) or origins[0].lower() in self._origins)

    def _refuse_unknown(self, scope: Scope, headers: Headers, host: str) -> Refusal | None:
        """Check the token or, if there is none, the login cookie."""
        given = _given_tokens(scope, headers)
        if len(given) == 1 and hmac.compare_digest(given[0].encode(), self._token):
            return None
        login = self._page.login(headers) if self._page is not None and not given else "none"
        if login == "good" and _is_from_own(scope, headers, host):
            return None
        if login == "good":
            return Refusal(document(ORIGIN_REFUSED, hint="a login is valid for the page only"))
        wait_s = self._attempts.add() if given or login == "wrong" else 0
        if wait_s:
            again = {"retry-after": str(wait_s)}
            return Refusal(document(TOO_MANY_ATTEMPTS, hint=f"try again in {wait_s} s"), again)
        is_page = login != "none" or (self._page is not None and "sec-fetch-mode" in headers)
        hint = NEW_LOGIN if is_page else "authorization: Bearer TOKEN, which is in run/token of BRIDLE_HOME"
        return Refusal(document(UNAUTHORIZED, hint=hint), {"www-authenticate": "Bearer"})

    def _cors(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Return the headers that let a page of an allowed origin read the response."""
        origin = headers.get("origin", "")
        if origin.lower() not in self._origins:
            return []
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", self._exposed),
            (b"vary", b"Origin"),
        ]


def _nothing() -> None:
    """Do nothing; used with a server that does not count strangers."""


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    """Return True for a CORS preflight; its origin is already checked."""
    return (
        scope["type"] == "http"
        and scope["method"] == "OPTIONS"
        and "origin" in headers
        and "access-control-request-method" in headers
    )


def _is_own(origin: str, host: str) -> bool:
    """Return True if an origin equals the requested host; default ports follow from the scheme."""
    found, asked = origin_of(origin), authority_of(host)
    return found is not None and asked is not None and found[1] == with_port(asked, found[0])


def _is_from_own(scope: Scope, headers: Headers, host: str) -> bool:
    """Return True if Bridle's own page sent the request; reading requests need no Origin."""
    origins = headers.getlist("origin")
    if not origins and scope["type"] == "http" and scope["method"] in READING:
        return True
    return len(origins) == 1 and _is_own(origins[0], host)


def _offered(scope: Scope) -> Sequence[str]:
    """Return the client's subprotocols, the one with its token last."""
    offered = scope.get("subprotocols", [])
    return sorted(offered, key=lambda name: name.startswith(BEARER_PROTOCOL))


def _given_tokens(scope: Scope, headers: Headers) -> list[str]:
    """Return the tokens of a request."""
    given = []
    for value in headers.getlist("authorization"):
        scheme, _, token = value.partition(" ")
        given.append(token.strip() if scheme.lower() == "bearer" else "")
    shown = (name for name in scope.get("subprotocols", []) if name.startswith(BEARER_PROTOCOL))
    return [*given, *(name.removeprefix(BEARER_PROTOCOL) for name in shown)]


def _adding(send: Send, added: Sequence[tuple[bytes, bytes]], offered: Sequence[str]) -> Send:
    """Return a `send` that adds headers, unless the app has set them."""

    async def send_more(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            headers += [header for header in added if header[0] not in present]
            message = {**message, "headers": headers}
        elif message["type"] == "websocket.accept" and offered and not message.get("subprotocol"):
            message = {**message, "subprotocol": offered[0]}  # without one, a browser closes the connection
        await send(message)

    return send_more
