"""Which requests are accepted, and the answer to all others."""

from typing import Any

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from bridle.surfaces.rest.guard import MAX_WRONG, WRONG_WITHIN_S, Guard
from tests.surfaces.rest.client import ask, echo, refused, scope_of

TOKEN = "a-token-of-the-tests"
RIGHT = {"authorization": f"Bearer {TOKEN}"}


async def status(guard: Guard, **headers: str) -> int:
    return (await ask(guard, scope_of("/sessions", **headers))).status


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:9", "[::1]", "my.name:80"]
)
async def test_names_of_this_machine_are_answered(host: str):
    assert await status(Guard(echo, hosts=["My.Name"]), host=host) == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost.evil", "[::2]"),
        *("127.0.0.2", "[::1].evil.com", "[127.0.0.1]evil", "127.0.0.1:1:evil", "[127.0.0.1]", "[localhost]"),
        *("[::1]evil", "[::1", "::1", "[::1%lo]", "localhost:evil", "localhost:", "localhost:0"),
        *("localhost:65536", "localhost:+80", "localhost:\xb2", "localhost,evil.com", "user@localhost"),
        *("localhost evil", "localhost/evil", "localhost#evil", "localhost.", " localhost", "[::1]:80:90"),
    ],
)
async def test_a_foreign_name_for_this_machine_is_refused(host: str):
    """DNS rebinding: a page of evil.example, whose name suddenly means 127.0.0.1."""
    guard = Guard(echo, token=TOKEN)

    for path in ("/sessions", "/health"):
        answer = await ask(guard, scope_of(path, host=host, **RIGHT))
        assert refused(answer) == (421, "HOST_REFUSED")


@pytest.mark.parametrize("count", [0, 2])
async def test_a_request_has_one_host(count: int):
    scope = scope_of("/sessions")
    scope["headers"] = [(b"host", b"localhost")] * count

    assert refused(await ask(Guard(echo), scope)) == (421, "HOST_REFUSED")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 200),
        ({"origin": "http://127.0.0.1:1"}, 200),
        ({"origin": "https://127.0.0.1:1"}, 200),
        ({"origin": "http://127.0.0.1:2"}, 403),
        ({"origin": "http://127.0.0.1:1/"}, 403),
        ({"origin": "http://127.0.0.1:1:evil"}, 403),
        ({"origin": "http://127.0.0.1:1.evil.com"}, 403),
        ({"origin": "ftp://127.0.0.1:1"}, 403),
        ({"origin": "127.0.0.1:1"}, 403),
        ({"origin": "http://app.example"}, 200),
        ({"origin": "http://app.example:81"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"sec_fetch_site": "same-origin"}, 200),
        ({"sec_fetch_site": "none"}, 200),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "cross-site", "origin": "http://app.example"}, 200),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_pages_of_others_are_refused(headers: dict[str, str], expected: int, method: str):
    guard = Guard(echo, origins=["http://app.example"])

    answer = await ask(guard, scope_of("/sessions", method, **headers))

    assert answer.status == expected
    if expected != 200:
        assert refused(answer) == (403, "ORIGIN_REFUSED")


async def test_a_request_has_one_origin():
    scope = scope_of("/sessions", origin="http://app.example")
    scope["headers"].append((b"origin", b"http://evil.example"))

    assert refused(await ask(Guard(echo, origins=["http://app.example"]), scope)) == (403, "ORIGIN_REFUSED")


async def test_only_a_configured_origin_may_read_answers():
    guard = Guard(echo, origins=["http://app.example"])

    allowed = await ask(guard, scope_of(origin="http://app.example"))
    own = await ask(guard, scope_of(origin="http://127.0.0.1:1"))

    assert allowed.headers["access-control-allow-origin"] == "http://app.example"
    assert allowed.headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in allowed.headers
    assert not [name for name in own.headers if name.startswith("access-control")]


async def test_a_preflight_needs_no_token_and_is_answered_to_configured_origins_only():
    guard = Guard(echo, token=TOKEN, origins=["http://app.example"])
    wants = {"access_control_request_method": "POST"}

    allowed = await ask(guard, scope_of("/sessions", "OPTIONS", origin="http://app.example", **wants))
    foreign = await ask(guard, scope_of("/sessions", "OPTIONS", origin="http://evil.example", **wants))
    plain = await ask(guard, scope_of("/sessions", "OPTIONS", origin="http://app.example"))

    assert (allowed.status, allowed.headers["access-control-allow-methods"]) == (
        204,
        "GET, POST, PUT, PATCH, DELETE",
    )
    assert refused(foreign) == (403, "ORIGIN_REFUSED")
    assert refused(plain) == (401, "UNAUTHORIZED")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"authorization": "Bearer \u00fc\u00ff"},
        {"cookie": f"token={TOKEN}"},
    ],
)
async def test_without_the_token_nobody_is_let_in(headers: dict[str, str]):
    answer = await ask(Guard(echo, token=TOKEN), scope_of("/sessions", **headers))

    assert refused(answer) == (401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.body.decode()


async def test_a_token_in_the_address_is_not_taken():
    scope = scope_of("/sessions")
    scope["query_string"] = f"token={TOKEN}&access_token={TOKEN}".encode()

    assert refused(await ask(Guard(echo, token=TOKEN), scope)) == (401, "UNAUTHORIZED")


async def test_two_tokens_are_none():
    scope = scope_of("/sessions", **RIGHT)
    scope["headers"].append((b"authorization", b"Bearer other"))

    assert refused(await ask(Guard(echo, token=TOKEN), scope)) == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("path", ["/health", "/ready", "/openapi.json"])
async def test_some_things_can_be_asked_without_a_token(path: str):
    guard = Guard(echo, token=TOKEN)

    assert (await ask(guard, scope_of(path))).status == 200
    assert (await ask(guard, scope_of(path + "/"))).status == 401


async def test_more_can_be_opened_up():
    guard = Guard(echo, token=TOKEN, open_paths=("/metrics",))

    assert [(await ask(guard, scope_of(path))).status for path in ("/metrics", "/sessions")] == [200, 401]


async def test_many_wrong_tokens_are_held_up_and_the_right_one_is_not():
    now = 0.0
    guard = Guard(echo, token=TOKEN, now=lambda: now)
    wrong = {"authorization": "Bearer wrong"}

    counted = [await status(guard, **wrong) for _ in range(MAX_WRONG + 2)]
    missing, right = await status(guard), await status(guard, **RIGHT)
    now = 20.0
    held_up = await ask(guard, scope_of("/sessions", **wrong))
    now = WRONG_WITHIN_S
    later = await status(guard, **wrong)

    assert counted == [401] * MAX_WRONG + [429] * 2
    assert (missing, right) == (401, 200)
    assert refused(held_up) == (429, "TOO_MANY_ATTEMPTS")
    assert held_up.headers["retry-after"] == "40"
    assert later == 401


async def test_every_answer_is_marked_and_what_the_app_has_set_is_kept():
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await Response("x", headers={"Cache-Control": "max-age=1"})(scope, receive, send)

    answer = await ask(Guard(page), scope_of())

    assert answer.headers == {
        "cache-control": "max-age=1",
        "content-length": "1",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


# ---------------------------------------------------------------------------- WebSockets


async def accept(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "websocket.accept"})


async def shake_hands(guard: Guard, **headers: str) -> Message:
    """Return the first thing that a WebSocket is answered."""
    sent: list[Any] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await guard(scope_of("/rpc", kind="websocket", **headers), receive, send)
    return sent[0]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 401),
        (RIGHT, "websocket.accept"),
        ({"sec_websocket_protocol": f"bearer.{TOKEN}"}, "websocket.accept"),
        ({"sec_websocket_protocol": "bearer.wrong"}, 401),
        ({**RIGHT, "origin": "http://evil.example"}, 403),
        ({**RIGHT, "origin": "http://127.0.0.1:1"}, "websocket.accept"),
        ({**RIGHT, "host": "evil.example"}, 421),
    ],
)
async def test_a_websocket_is_looked_at_like_everything_else(headers: dict[str, str], expected: object):
    first = await shake_hands(Guard(accept, token=TOKEN), **headers)

    assert first.get("status", first["type"]) == expected


async def test_a_browser_gets_a_subprotocol_that_it_offered_and_not_its_token_if_there_is_another():
    guard = Guard(accept, token=TOKEN)

    only = await shake_hands(guard, sec_websocket_protocol=f"bearer.{TOKEN}")
    both = await shake_hands(guard, sec_websocket_protocol=f"bearer.{TOKEN}, jsonrpc")
    none = await shake_hands(guard, **RIGHT)

    assert [first.get("subprotocol") for first in (only, both, none)] == [f"bearer.{TOKEN}", "jsonrpc", None]


async def test_what_is_no_request_is_passed_on():
    async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "lifespan.startup.complete"})

    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        sent.append(message)

    await Guard(lifespan, token=TOKEN)({"type": "lifespan", "headers": []}, receive, send)

    assert sent == [{"type": "lifespan.startup.complete"}]


async def test_the_text_of_an_app_is_passed_on():
    async def hello(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("ok")(scope, receive, send)

    assert (await ask(Guard(hello), scope_of())).body == b"ok"
