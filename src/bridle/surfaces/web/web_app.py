"""Serves the web page over HTTP: the document, its files, login and logout.

| | answers |
|---|---|
| `GET /` | the page, or a request to log in |
| `GET /login?code=` | a cookie, and a redirect to the page |
| `POST /logout` | deletes the cookie; copies of it are refused |
| `GET /web/DIGEST/NAME` | a file of the page, cacheable for a year |
"""

import asyncio
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bridle.surfaces.rest.guard import Login, WebPage, WrongTokenCounter
from bridle.surfaces.rest.problem_document import NOT_FOUND, ProblemResponse, document
from bridle.surfaces.web.assets import PREFIX
from bridle.surfaces.web.login import Logins
from bridle.surfaces.web.notices import make_notice_page, make_redirect_page
from bridle.surfaces.web.page import Page, make_page

FOREVER = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
PAGE_HEADERS = {
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "vary": "accept-encoding, cookie",
}
LOGIN = "/login"
LOGOUT = "/logout"
MAX_CODE_CHARS = 100
COMMAND = "$ bridle web"


class Web:
    """Serves the page; its files are read on the first request."""

    def __init__(self, logins: Logins | None, attempts: WrongTokenCounter) -> None:
        """Require a login, unless `logins` is None; `attempts` counts wrong codes."""
        self._logins = logins
        self._attempts = attempts
        self._page: Page | None = None
        self._making = asyncio.Lock()  # so that the files are read once

    def rules(self) -> WebPage:
        """Return what the HTTP guard needs to know about the page."""
        login = self._logins.of if self._logins is not None else _nobody
        return WebPage(login, frozenset({"/", LOGIN, LOGOUT}), PREFIX)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes of the page."""
        return (
            Route("/", self._show),
            Route(LOGIN, self._log_in),
            Route(LOGOUT, self._log_out, methods=["POST"]),
            Route(PREFIX + "{path:path}", self._file),
        )

    # ------------------------------------------------------------------ the page

    async def _show(self, request: Request) -> Response:
        if self._logins is not None and self._logins.of(request.headers) != "good":
            if request.headers.get("sec-fetch-site", "none") in ("cross-site", "same-site"):
                return make_redirect_page("/")
            return _unknown()
        page = await self._made()
        headers = {**PAGE_HEADERS, "content-security-policy": page.policy}
        return _packed(request, page.html, page.packed, "text/html; charset=utf-8", headers)

    async def _file(self, request: Request) -> Response:
        asset = (await self._made()).files.get(request.url.path)
        if asset is None:
            return ProblemResponse(document(NOT_FOUND, hint="reload the page: it has changed"))
        return _packed(request, asset.content, asset.packed, asset.media, FOREVER)

    async def _made(self) -> Page:
        async with self._making:
            if self._page is None:
                self._page = await asyncio.to_thread(make_page)
        return self._page

    # ------------------------------------------------------------------ login

    async def _log_in(self, request: Request) -> Response:
        """Accept a code, unless a browser or a chat program only prefetches the link."""
        logins = self._logins
        if logins is None or logins.of(request.headers) == "good":
            return RedirectResponse("/", 303)
        if request.method == "HEAD" or _looks_ahead(request):
            return Response(status_code=204)
        code = request.query_params.get("code", "")
        if len(code) <= MAX_CODE_CHARS and logins.take_code(code):
            return RedirectResponse("/", 303, {"set-cookie": logins.new_cookie()})
        wait_s = self._attempts.add() if code else 0
        if wait_s:
            again = {"retry-after": str(wait_s)}
            return make_notice_page(
                429, "Too many wrong links", f"Try again in {wait_s} seconds.", headers=again
            )
        return make_notice_page(
            401,
            "This link has expired",
            "A link works once, and for five minutes. To get a new one, run:",
            COMMAND,
        )

    async def _log_out(self, request: Request) -> Response:
        if self._logins is None:
            return Response(status_code=204)
        self._logins.end(request.headers)
        return Response(status_code=204, headers={"set-cookie": self._logins.no_cookie()})


def _nobody(headers: Headers) -> Login:
    return "none"


def _unknown() -> Response:
    return make_notice_page(
        401,
        "Please log in",
        "Only you can open this page. To get a login link, run:",
        COMMAND,
        "on the machine where Bridle runs, and open the link in this browser.",
    )


def _looks_ahead(request: Request) -> bool:
    return any(request.headers.get(name) for name in ("sec-purpose", "purpose", "x-moz"))


def _packed(request: Request, content: bytes, packed: bytes, media: str, headers: dict[str, str]) -> Response:
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, headers={**headers, "content-encoding": "gzip"}, media_type=media)
    return Response(content, headers=headers, media_type=media)
