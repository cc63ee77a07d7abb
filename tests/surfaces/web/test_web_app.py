"""The page over HTTP: who gets it, how a browser logs in, and how other requests are refused."""

import asyncio
import gzip
import hashlib
import json
import re
from base64 import b64encode

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from bridle.surfaces.rest.guard import MAX_WRONG, Guard, WrongTokenCounter
from bridle.surfaces.web.assets import load_assets
from bridle.surfaces.web.login import COOKIE_S, Logins
from bridle.surfaces.web.web_app import Page, Web, hash_of, make_page
from tests.surfaces.rest.client import Answer, ask, refused, request, scope_of, served

TOKEN = "the token of a daemon"
HERE = "http://127.0.0.1:1"
PATHS_OUT = (
    "/web/../../../../etc/passwd",
    "/web/%2e%2e/%2e%2e/vendor/vendor.json",
    "/web//etc/passwd",
    "/web/0000000000000000/app.js",
    "/web/0000000000000000/../serving.py",
    "/web/static/README.md",
    "/web/",
    "/web/\0",
    "/web/" + "a" * 5000,
)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 1_000_000.0

    def __call__(self) -> float:
        return self.at


class Daemon:
    """A page and an API behind their guard."""

    def __init__(self, token: str = TOKEN, *, asks: bool = True, origins: tuple[str, ...] = ()) -> None:
        self.clock = Clock()
        self.done: list[str] = []
        self.logins = Logins(token, now=self.clock, passed=self.clock)
        web = Web(self.logins if asks else None, WrongTokenCounter(self.clock))
        routes = [Route("/sessions", self._api, methods=["GET", "POST"]), WebSocketRoute("/rpc", self._rpc)]
        app = Starlette(routes=[*routes, *web.routes()])
        self.guard = Guard(
            app, token=token if asks else "", origins=origins, page=web.rules(), now=self.clock
        )

    async def _api(self, request: Request) -> Response:
        self.done.append(request.method)
        return JSONResponse({"secret": "what is said in a session"})

    async def _rpc(self, websocket: WebSocket) -> None:
        self.done.append("rpc")
        await websocket.close()

    async def get(self, path: str = "/", query: str = "", *, method: str = "GET", **headers: str) -> Answer:
        scope = scope_of(path, method, **headers)
        scope["query_string"] = query.encode()
        return await ask(self.guard, scope)

    async def log_in(self, **headers: str) -> Answer:
        return await self.get("/login", f"code={self.logins.new_code()}", **headers)

    async def cookie(self) -> str:
        return (await self.log_in()).headers["set-cookie"].partition(";")[0]


def words(answer: Answer) -> str:
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", answer.body.decode())


# ---------------------------------------------------------------------------- the page


async def test_a_link_leads_to_the_page_once():
    daemon = Daemon()
    code = daemon.logins.new_code()

    first = await daemon.get("/login", f"code={code}")
    again = await daemon.get("/login", f"code={code}")
    page = await daemon.get("/", cookie=first.headers["set-cookie"].partition(";")[0])

    assert (first.status, first.headers["location"], first.headers["cache-control"]) == (303, "/", "no-store")
    assert (again.status, "set-cookie" in again.headers) == (401, False)
    assert "bridle web" in words(again)
    assert page.status == 200
    assert b'<div id="app"></div>' in page.body
    assert "require-trusted-types-for 'script'" in page.headers["content-security-policy"]
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert page.headers["cross-origin-resource-policy"] == "same-origin"
    assert page.headers["cache-control"] == "no-store"


async def test_without_a_login_there_is_a_word_and_no_secret():
    daemon = Daemon()

    page, api = await daemon.get("/"), await daemon.get("/sessions", sec_fetch_mode="cors")

    assert (page.status, "bridle web" in words(page)) == (401, True)
    assert TOKEN.encode() not in page.body
    assert daemon.logins.cookie.encode() not in page.body
    assert "script" not in page.headers["content-security-policy"]
    assert (refused(api), json.loads(api.body)["hint"]) == (
        (401, "UNAUTHORIZED"),
        "bridle web makes a new login",
    )
    assert daemon.done == []


async def test_files_are_for_everybody_and_for_ever():
    daemon = Daemon()
    page = await daemon.get("/", cookie=await daemon.cookie())
    [address] = re.findall(r'<script type="module" src="([^"]+)"', page.body.decode())

    plain = await daemon.get(address)
    packed = await daemon.get(address, accept_encoding="gzip, deflate, br")
    head = await daemon.get(address, method="HEAD")

    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert plain.headers["x-content-type-options"] == "nosniff"
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body)
    assert head.status == 200


@pytest.mark.parametrize("path", PATHS_OUT)
async def test_no_other_file_is_served(path: str):
    answer = await Daemon().get(path)

    assert refused(answer) == (404, "NOT_FOUND")
    assert answer.headers["cache-control"] == "no-store"


async def test_paths_that_leave_the_folder_are_refused_on_the_wire():
    async with served(Daemon().guard) as house:
        for path in ("/web/../../etc/passwd", "/web/%2e%2e%2f%2e%2e%2fvendor.json", "/web/..%5c..%5cx"):
            line = await house.dial()
            await line.say(request(path))
            status, _ = await line.answer()
            assert status == 404, path


# ---------------------------------------------------------------------------- logging in


async def test_who_only_looks_at_a_link_does_not_use_it_up():
    daemon = Daemon()
    query = f"code={daemon.logins.new_code()}"

    looked = [
        await daemon.get("/login", query, method="HEAD"),
        await daemon.get("/login", query, sec_purpose="prefetch"),
        await daemon.get("/login", query, purpose="prefetch"),
    ]

    assert [(answer.status, "set-cookie" in answer.headers) for answer in looked] == [(204, False)] * 3
    assert (await daemon.get("/login", query)).status == 303


async def test_a_used_link_is_no_trouble_to_who_is_logged_in():
    daemon = Daemon()
    cookie = await daemon.cookie()

    answer = await daemon.get("/login", "code=used", cookie=cookie)

    assert (answer.status, answer.headers["location"], "set-cookie" in answer.headers) == (303, "/", False)


async def test_guessing_codes_is_held_up_and_right_ones_are_not():
    daemon = Daemon()

    guesses = [(await daemon.get("/login", f"code=guess-{n}")).status for n in range(MAX_WRONG + 2)]
    right = await daemon.log_in()
    daemon.clock.at += 61
    later = await daemon.get("/login", "code=guess")

    assert guesses == [401] * MAX_WRONG + [429] * 2
    assert (right.status, later.status) == (303, 401)


@pytest.mark.parametrize(
    "query",
    ["", "code=", "code=x", "code=" + "x" * 5000, "code=%0d%0aset-cookie:%20a=b", "code=%ff", "other=1"],
)
async def test_what_is_no_code_gets_a_page_and_nothing_of_it_comes_back(query: str):
    answer = await Daemon().get("/login", query)

    assert answer.status == 401
    assert "set-cookie" not in answer.headers
    assert "bridle web" in words(answer)
    assert b"xxx" not in answer.body


async def test_a_login_leads_nowhere_else():
    """Login CSRF and open redirects: whatever a link says beside its code, it leads to our own page."""
    daemon = Daemon()

    answer = await daemon.get(
        "/login", f"code={daemon.logins.new_code()}&next=https://evil.example&url=//evil.example"
    )

    assert answer.headers["location"] == "/"


async def test_a_link_in_the_page_of_somebody_else_works_too():
    """The browser keeps the cookie back at first, as it was sent here by another page."""
    daemon = Daemon()
    followed = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}

    login = await daemon.log_in(**followed)
    first = await daemon.get("/", **followed)

    assert login.status == 303
    assert (first.status, b'content="0; url=/"' in first.body) == (200, True)
    assert b'id="app"' not in first.body


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "sec_fetch_dest": "empty"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "script"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:2"},
        {"origin": "null"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/login", "/web/x/app.js", "/sessions"])
async def test_other_pages_can_use_nothing_of_ours(path: str, headers: dict[str, str]):
    daemon = Daemon()

    answer = await daemon.get(
        path, f"code={daemon.logins.new_code()}", cookie=await daemon.cookie(), **headers
    )

    assert refused(answer) == (403, "ORIGIN_REFUSED")
    assert daemon.done == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/sessions", "/web/x/app.js", "/openapi.json", "/rpc"])
async def test_a_link_leads_to_our_page_only(path: str, site: str):
    """A page at another port of this machine is of the same site: the browser shows us the cookie then."""
    daemon = Daemon()
    followed = {"sec_fetch_site": site, "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}

    answer = await daemon.get(path, cookie=await daemon.cookie(), **followed)

    assert refused(answer) == (403, "ORIGIN_REFUSED")
    assert daemon.done == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:1", "127.0.0.1.evil.example"])
@pytest.mark.parametrize("path", ["/", "/login", "/web/x/app.js", "/sessions"])
async def test_a_foreign_name_for_this_machine_gets_nothing(path: str, host: str):
    """DNS rebinding: the browser takes us for evil.example, and would give its page our answers."""
    daemon = Daemon()

    answer = await daemon.get(
        path, f"code={daemon.logins.new_code()}", host=host, cookie=await daemon.cookie()
    )

    assert refused(answer) == (421, "HOST_REFUSED")


# ---------------------------------------------------------------------------- being logged in


async def test_the_page_can_read_and_change():
    daemon = Daemon()
    cookie = await daemon.cookie()

    read = await daemon.get("/sessions", cookie=cookie, sec_fetch_site="same-origin")
    changed = await daemon.get("/sessions", method="POST", cookie=cookie, origin=HERE)

    assert (read.status, changed.status, daemon.done) == (200, 200, ["GET", "POST"])


async def test_a_change_says_that_our_page_has_sent_it():
    daemon = Daemon(origins=("http://app.example",))
    cookie = await daemon.cookie()

    silent = await daemon.get("/sessions", method="POST", cookie=cookie)
    friend = await daemon.get("/sessions", method="POST", cookie=cookie, origin="http://app.example")
    read = await daemon.get("/sessions", cookie=cookie, origin="http://app.example")

    assert [refused(answer) for answer in (silent, friend, read)] == [(403, "ORIGIN_REFUSED")] * 3
    assert daemon.done == []


async def test_a_login_of_another_daemon_is_none():
    here, there = Daemon(), Daemon("the token of another daemon")
    cookie = await there.cookie()
    forged = cookie.replace(there.logins.cookie, here.logins.cookie)

    answers = [await here.get("/sessions", cookie=one) for one in (cookie, forged)]
    both = await here.get("/sessions", cookie=f"{cookie}; {await here.cookie()}")

    assert [refused(answer) for answer in answers] == [(401, "UNAUTHORIZED")] * 2
    assert both.status == 200


async def test_a_login_that_has_ended_is_said_as_often_as_it_is_used():
    daemon = Daemon()
    cookie = await daemon.cookie()
    daemon.clock.at += COOKIE_S

    answers = [await daemon.get("/sessions", cookie=cookie) for _ in range(MAX_WRONG + 5)]
    page = await daemon.get("/", cookie=cookie)

    assert {(answer.status, json.loads(answer.body)["hint"]) for answer in answers} == {
        (401, "bridle web makes a new login")
    }
    assert (page.status, "bridle web" in words(page)) == (401, True)


async def test_guessing_cookies_is_held_up_and_right_ones_are_not():
    daemon = Daemon()
    forged = f"{daemon.logins.cookie}=9999999999.{'0' * 64}"

    guesses = [(await daemon.get("/sessions", cookie=forged)).status for _ in range(MAX_WRONG + 1)]
    right = await daemon.get("/sessions", cookie=await daemon.cookie())
    token = await daemon.get("/sessions", authorization=f"Bearer {TOKEN}")

    assert guesses == [401] * MAX_WRONG + [429]
    assert (right.status, token.status) == (200, 200)


async def test_a_wrong_token_is_not_made_good_by_a_cookie():
    daemon = Daemon()

    answer = await daemon.get("/sessions", authorization="Bearer wrong", cookie=await daemon.cookie())

    assert refused(answer) == (401, "UNAUTHORIZED")


async def test_a_socket_of_our_page_is_let_in():
    daemon = Daemon()
    cookie = await daemon.cookie()

    async def dial(**headers: str) -> int:
        answer = await ask(daemon.guard, scope_of("/rpc", kind="websocket", **headers))
        return answer.status

    assert await dial() == 401
    assert await dial(cookie=cookie) == 403
    assert await dial(cookie=cookie, origin="http://127.0.0.1:2") == 403
    assert daemon.done == []
    with pytest.raises(KeyError):  # what it answers is no refusal, which would have a status
        await dial(cookie=cookie, origin=HERE)
    assert daemon.done == ["rpc"]


async def test_logging_out_takes_the_cookie_away():
    daemon = Daemon()
    cookie = await daemon.cookie()

    foreign = await daemon.get("/logout", method="POST", cookie=cookie, origin="http://127.0.0.1:2")
    asked = await daemon.get("/logout", cookie=cookie)
    done = await daemon.get("/logout", method="POST", cookie=cookie, origin=HERE)

    assert (foreign.status, asked.status, done.status) == (403, 405, 204)
    assert done.headers["set-cookie"] == daemon.logins.no_cookie()
    kept = await daemon.get("/sessions", cookie=cookie)
    assert kept.status == 401, "who has kept a copy is logged out as well"
    assert (await daemon.get("/sessions", cookie=await daemon.cookie())).status == 200


async def test_huge_cookies_are_refused_and_the_daemon_goes_on():
    daemon = Daemon()
    cookie = await daemon.cookie()
    async with served(daemon.guard) as house:
        line = await house.dial()
        await line.say(request("/sessions", cookie=f"{daemon.logins.cookie}={'9' * 100_000}"))
        assert (await line.answer())[0] in (401, 431)  # as it comes in one piece, or in several
        line = await house.dial()
        many = "; ".join(f"{daemon.logins.cookie}=1.{n}" for n in range(600))
        await line.say(request("/sessions", cookie=many))
        assert (await line.answer())[0] == 401
        line = await house.dial()
        await line.say(request("/sessions", cookie=f"a={'x' * 8000}; {cookie}"))
        assert (await line.answer())[0] == 200


async def test_without_a_token_nobody_has_to_log_in():
    daemon = Daemon(asks=False)

    page, login, out = (
        await daemon.get("/"),
        await daemon.get("/login", "code=whatever"),
        await daemon.get("/logout", method="POST", origin=HERE),
    )

    assert (page.status, login.status, login.headers["location"]) == (200, 303, "/")
    assert (out.status, "set-cookie" in out.headers) == (204, False)


async def test_many_who_come_at_once_wait_for_one_page():
    daemon = Daemon(asks=False)

    pages = await asyncio.gather(*(daemon.get("/") for _ in range(20)))

    assert {page.body for page in pages} == {pages[0].body}


# ---------------------------------------------------------------------------- page


@pytest.fixture(scope="module")
def page() -> Page:
    return make_page()


def test_the_import_map_names_every_module(page: Page):
    [text] = re.findall(r'<script type="importmap">(.*?)</script>', page.html.decode(), re.DOTALL)
    imports = json.loads(text)["imports"]

    assert imports == {name: asset.address for name, asset in load_assets().modules.items()}
    assert {
        "preact",
        "preact/hooks",
        "htm",
        "@preact/signals",
        "marked",
        "dompurify",
        "uplot",
        "highlight",
    } <= set(imports)
    assert imports["bridle/app.js"].endswith("/app.js")
    digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in page.policy


def test_the_policy_lets_nothing_in_and_nothing_out(page: Page):
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))

    assert {name: value for name, value in rules.items() if name != "script-src"} == {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "connect-src": "'self'",
        "font-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "dompurify",
    }
    assert "unsafe" not in page.policy


def test_the_document_is_small_and_all_that_it_names_is_there(page: Page):
    html = page.html.decode()
    named = set(re.findall(r'(?:src|href)="([^"]+)"', html))

    assert named <= set(page.files)
    assert gzip.decompress(page.packed) == page.html
    assert len(page.packed) < 10_000
    assert not re.search(r"\bon\w+=|style=|https?://", html)
    assert '<html lang="en">' in html
    assert "<noscript>" in html


def test_a_policy_names_a_text_by_its_hash():
    assert hash_of("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
