"""Serves the web page over HTTP: the document, its files, login and logout.

| | answers |
|---|---|
| `GET /` | the page, or a request to log in |
| `GET /login?code=` | a cookie, and a redirect to the page |
| `POST /logout` | deletes the cookie; copies of it are refused |
| `GET /web/DIGEST/NAME` | a file of the page, cacheable for a year |
"""

import asyncio
import gzip
import hashlib
from base64 import b64encode
from collections.abc import Sequence
from html import escape

from msgspec import Struct, json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bridle.surfaces.rest.guard import Login, WebPage, WrongTokenCounter
from bridle.surfaces.rest.problem_document import NOT_FOUND, ProblemResponse, document
from bridle.surfaces.web.assets import BOOT, PREFIX, START, Asset, Assets, load_assets, needed_by
from bridle.surfaces.web.login import Logins

# ---------------------------------------------------------------------------- document

ICON = "icon.svg"
POLICY = (
    "default-src 'none'; script-src 'self' {map_hash}; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify"
)
NO_SCRIPT = "This page needs JavaScript. Without it: bridle run, bridle session list."


class Page(Struct, frozen=True):
    """The served document."""

    html: bytes
    packed: bytes
    """The document, compressed with gzip."""
    policy: str
    """The content security policy."""
    files: dict[str, Asset]
    """The files of the page by URL path."""


def make_page(assets: Assets | None = None) -> Page:
    """Read all files and create the document; takes about 100 ms, so call it in a thread."""
    assets = assets or load_assets()
    names = {name: asset.address for name, asset in sorted(assets.modules.items())}
    import_map = json.encode({"imports": names}).decode().replace("<", "\\u003c")
    html = _document(assets, import_map).encode()
    policy = POLICY.format(map_hash=hash_of(import_map))
    return Page(html, gzip.compress(html, 9, mtime=0), policy, assets.by_address())


def hash_of(text: str) -> str:
    """Return the hash source of an inline text for a content security policy."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _document(assets: Assets, import_map: str) -> str:
    start = f"bridle/{START}"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        "<title>Bridle</title>",
        f'<link rel="icon" type="image/svg+xml" href="{assets.others[ICON].address}">',
        *(
            f'<script src="{assets.others[name].address}"></script>'
            for name in (BOOT,)
            if name in assets.others
        ),
        f'<script type="importmap">{import_map}</script>',
        *(f'<link rel="stylesheet" href="{asset.address}">' for asset in assets.styles),
        *(f'<link rel="modulepreload" href="{asset.address}">' for asset in needed_by(start, assets.modules)),
        f'<script type="module" src="{assets.modules[start].address}"></script>',
        "</head>",
        "<body>",
        '<div id="app"></div>',
        f"<noscript><p>{escape(NO_SCRIPT)}</p></noscript>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines)


# ---------------------------------------------------------------------------- notices
# Small HTML pages, such as errors, shown instead of the web page.


STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1.5rem}"
    "h1{font-size:1.25rem}code{font-family:ui-monospace,monospace}"
)
NOTICE_POLICY = f"default-src 'none'; style-src {hash_of(STYLE)}; base-uri 'none'; frame-ancestors 'none'"


def make_notice_page(
    status: int, title: str, *lines: str, headers: dict[str, str] | None = None
) -> HTMLResponse:
    """Return a small page; a line that starts with `$ ` is shown as a command."""
    said = "".join(_paragraph(line) for line in lines)
    return _page(status, title, f"<main><h1>{escape(title)}</h1>{said}</main>", headers=headers)


def make_redirect_page(address: str) -> HTMLResponse:
    """Return a page that redirects to one of our URLs.

    Browsers send no cookie when another site links here; our own page may follow the link with it.
    """
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
    link = f'<main><p><a href="{escape(address)}">Continue to Bridle</a></p></main>'
    return _page(200, "Bridle", link, head=refresh)


def _paragraph(line: str) -> str:
    if line.startswith("$ "):
        return f"<p><code>{escape(line.removeprefix('$ '))}</code></p>"
    return f"<p>{escape(line)}</p>"


def _page(
    status: int, title: str, body: str, *, head: str = "", headers: dict[str, str] | None = None
) -> HTMLResponse:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{head}<title>{escape(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>"
    )
    return HTMLResponse(text, status, {"content-security-policy": NOTICE_POLICY, **(headers or {})})


# ---------------------------------------------------------------------------- web app


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
