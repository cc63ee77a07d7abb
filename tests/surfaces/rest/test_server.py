"""The server: what an app gets, and how it handles clients that are slow, many, rude or gone."""

import asyncio
import json
import logging

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import connect

from bridle.surfaces.rest.connection import ConnectionLimits
from bridle.surfaces.rest.guard import Guard
from bridle.surfaces.rest.server import HttpServer
from tests.patience import PATIENCE_S
from tests.surfaces.rest.client import Line, Served, request, served, until

QUICK = ConnectionLimits(head_s=0.1, body_s=0.1, stuck_s=0.1)


WITH_TOKEN = request(authorization="Bearer t")


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"hello {len(body)}")(scope, receive, send)


async def problem(line: Line) -> tuple[int, str]:
    status, body = await line.answer()
    document = json.loads(body)
    assert document["status"] == status
    return status, document["code"]


async def test_requests_are_answered_one_after_the_other_on_one_connection():
    async with served(hello) as server:
        line = await server.dial()
        for _ in range(3):
            await line.say(request())
            assert await line.answer() == (200, b"hello 0")
        await line.say(request(method="POST", body=b"{}") + request())
        assert [await line.answer(), await line.answer()] == [(200, b"hello 2"), (200, b"hello 0")]

        assert server.connections == 1
        await line.aclose()
        await until(lambda: server.connections == 0)


async def test_an_answer_has_a_date_and_does_not_say_what_serves_it():
    async with served(hello) as server:
        line = await server.dial()
        await line.say(request())
        _, headers = await line.head()

        assert set(headers) == {"date", "content-length", "content-type"}


async def test_a_taken_port_is_said():
    async with served(hello) as server:
        with pytest.raises(OSError, match="address already in use"):
            await HttpServer(hello).listen("127.0.0.1", server.port)


@pytest.mark.parametrize(
    "said",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTX/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),  # someone tries TLS
    ],
)
async def test_what_is_no_http_is_refused_and_others_are_served(said: bytes):
    async with served(hello) as server:
        rude, other = await server.dial(), await server.dial()
        await rude.say(said)
        assert await problem(rude) == (400, "BAD_REQUEST")
        assert await rude.is_closed()
        await other.say(request())

        assert await other.answer() == (200, b"hello 0")


async def test_a_head_without_an_end_is_refused():
    async with served(hello) as server:
        line = await server.dial()
        await line.say(b"GET / HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 20_000)

        assert await problem(line) == (431, "HEADERS_TOO_LARGE")


@pytest.mark.parametrize(
    "said",
    [b"GET / HTTP/1.1\r\nhost: a\r\nx", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{"],
    ids=["head", "body"],
)
async def test_a_slow_request_is_given_up(said: bytes):
    async with served(hello, QUICK) as server:
        line = await server.dial()
        await line.say(said)

        assert await problem(line) == (408, "REQUEST_TIMEOUT")
        assert await line.is_closed()
        await until(lambda: server.requests == 0)


async def test_a_client_that_drips_has_no_more_time_than_others():
    """Slow loris: every byte comes before one would give up on it."""
    async with served(hello, ConnectionLimits(head_s=0.3)) as server:
        line = await server.dial()

        async def drip() -> None:
            while True:
                await line.say(b"x: y\r\n")
                await asyncio.sleep(0.01)

        await line.say(b"GET / HTTP/1.1\r\nhost: a\r\n")
        dripping = asyncio.create_task(drip())
        assert await problem(line) == (408, "REQUEST_TIMEOUT")
        dripping.cancel()
        await asyncio.wait({dripping})


async def test_a_connection_that_says_nothing_is_closed_without_a_word():
    async with served(hello, QUICK) as server:
        line = await server.dial()

        async with asyncio.timeout(PATIENCE_S):
            assert await line.reader.read() == b""


async def test_a_second_request_may_not_be_slow_either():
    async with served(hello, QUICK) as server:
        line = await server.dial()
        await line.say(request())
        assert await line.answer() == (200, b"hello 0")
        await line.say(b"GET / HT")

        assert await problem(line) == (408, "REQUEST_TIMEOUT")


async def test_a_client_that_has_its_answer_may_not_go_on_with_its_body_for_ever():
    async with served(Guard(hello), QUICK) as server:
        line = await server.dial()
        await line.say(request(method="POST", content_type="text/plain", content_length="9") + b"{")

        assert await problem(line) == (415, "UNSUPPORTED_MEDIA_TYPE")
        assert await line.is_closed()


async def test_a_long_answer_is_not_hurried():
    """The time of a request is over when it is complete."""

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.4)
        await hello(scope, receive, send)

    async with served(slow, QUICK) as server:
        line = await server.dial()
        await line.say(request())

        assert await line.answer() == (200, b"hello 0")


async def test_a_client_that_takes_nothing_of_its_answer_is_let_go():
    ended = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await asyncio.wait_for(receive(), 0.001) if ended.is_set() else None) is None:
            await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
            if server.connections == 0:
                ended.set()
                return

    async with served(endless, QUICK) as server:
        line = await server.dial()
        line.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await line.say(request())
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()

        await until(lambda: server.requests == 0)


async def test_too_many_clients_are_told_so():
    async with served(Guard(hello, token="t"), ConnectionLimits(most=2)) as server:
        lines = [await server.dial() for _ in range(2)]
        for line in lines:
            await line.say(WITH_TOKEN)
            assert await line.answer() == (200, b"hello 0")
        refused = [await server.dial() for _ in range(2)]
        for line in refused:
            await line.say(WITH_TOKEN)
        assert [await problem(line) for line in refused] == [(503, "TOO_MANY_CONNECTIONS")] * 2
        for line in (*lines, *refused):
            await line.aclose()
        await until(lambda: server.connections == 0)
        again = await server.dial()
        await again.say(WITH_TOKEN)

        assert await again.answer() == (200, b"hello 0")


async def test_a_stranger_takes_the_place_of_the_oldest_that_waits():
    async with served(Guard(hello, token="t"), ConnectionLimits(strangers=3)) as server:
        first = await server.dial()
        await first.say(WITH_TOKEN)
        assert await first.answer() == (200, b"hello 0")
        strangers = [await server.dial() for _ in range(4)]

        assert await strangers[0].is_closed()
        await until(lambda: server.connections == 4)
        await first.say(WITH_TOKEN)
        assert await first.answer() == (200, b"hello 0")
        await strangers[1].say(WITH_TOKEN)
        assert await strangers[1].answer() == (200, b"hello 0")


@pytest.mark.parametrize("said", [request("/health"), request(), b"GET / HTTP/1.1\r\nhost: a"])
async def test_what_shows_no_token_stays_a_stranger(said: bytes):
    async with served(Guard(hello, token="t"), ConnectionLimits(strangers=1)) as server:
        line = await server.dial()
        await line.say(said)
        if said.endswith(b"\r\n\r\n"):
            await line.answer()
        await server.dial()

        assert await line.is_closed()


async def test_a_stranger_that_is_answered_is_closed_last():
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await may_end.wait()
        await hello(scope, receive, send)

    async with served(slow, ConnectionLimits(strangers=2)) as server:
        busy = await server.dial()
        await busy.say(request())
        async with asyncio.timeout(PATIENCE_S):
            await begun.wait()
        idle = await server.dial()
        await server.dial()
        assert await idle.is_closed()
        may_end.set()

        assert await busy.answer() == (200, b"hello 0")


async def test_a_thousand_idle_connections_keep_nobody_out():
    """1,025 connections without a token blocked HTTP until the time for their heads was over."""
    streaming = asyncio.Event()

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/stream":
            await hello(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await streaming.wait()
        await send({"type": "http.response.body", "body": b"b"})

    async with served(Guard(stream, token="t")) as server:
        watcher = await server.dial()
        await watcher.say(request("/stream", authorization="Bearer t"))
        idle = [await server.dial() for _ in range(1_025)]
        begun = asyncio.get_running_loop().time()
        client = await server.dial()
        await client.say(WITH_TOKEN)
        assert await client.answer() == (200, b"hello 0")
        assert asyncio.get_running_loop().time() - begun < 2.0
        await until(lambda: server.connections <= 128 + 2)
        streaming.set()

        assert await watcher.answer() == (200, b"ab")
        for line in idle:
            await line.aclose()


async def test_an_error_of_the_app_is_logged_and_its_words_are_not_told(caplog: pytest.LogCaptureFixture):
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("secret")

    async with served(broken) as server:
        line = await server.dial()
        await line.say(request())
        status, body = await line.answer()

        assert (status, json.loads(body)["code"]) == (500, "INTERNAL_ERROR")
        assert b"secret" not in body
        assert [record.name for record in caplog.records] == ["bridle.rest"]


async def test_closing_ends_what_does_not_end_by_itself(caplog: pytest.LogCaptureFixture):
    begun, ended = asyncio.Event(), []

    async def stubborn(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    server = HttpServer(stubborn)
    await server.listen("127.0.0.1", 0)
    house = Served(server)
    idle, busy = await house.dial(), await house.dial()
    await busy.say(request())
    await begun.wait()
    await server.aclose(grace_s=0.05)

    assert ended == ["cancelled"]
    status, body = await busy.answer()
    assert (status, json.loads(body)["code"]) == (503, "STOPPING")
    assert (server.connections, server.requests) == (0, 0)
    assert await idle.is_closed()
    assert await busy.is_closed()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    with pytest.raises(ConnectionRefusedError):
        await house.dial()
    await house.hang_up()


async def test_what_is_being_answered_goes_on_when_it_no_longer_listens():
    go, begun = asyncio.Event(), asyncio.Event()

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        await go.wait()
        await hello(scope, receive, send)

    async with served(waiting) as server:
        idle, busy = await server.dial(), await server.dial()
        await busy.say(request())
        await begun.wait()
        server.server.stop_listening()
        assert await idle.is_closed()
        go.set()

        assert await busy.answer() == (200, b"hello 0")
        assert await busy.is_closed()


async def test_a_websocket_is_a_websocket_through_the_guard_and_has_no_time_limit():
    async def shout(scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        try:
            while True:
                await socket.send_text((await socket.receive_text()).upper())
        except WebSocketDisconnect:
            pass

    async with served(Guard(shout, token="t"), QUICK) as server:
        address = f"ws://127.0.0.1:{server.port}/rpc"
        async with connect(address, subprotocols=["bearer.t"], proxy=None) as socket:  # type: ignore[list-item]
            await asyncio.sleep(0.3)
            await socket.send("hello")

            assert await socket.recv() == "HELLO"
        await until(lambda: server.connections == 0)


UPGRADE = "host: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n"


@pytest.mark.parametrize(
    "said",
    [
        f"POST /rpc HTTP/1.1\r\n{UPGRADE}content-length: 5\r\n\r\n",
        f"GET /rpc HTTP/1.1\r\n{UPGRADE}transfer-encoding: chunked\r\n\r\n",
        f"GET /rpc HTTP/1.1\r\n{UPGRADE}x: {'x' * 10_000}\r\n\r\n",
    ],
)
async def test_what_would_be_a_websocket_and_cannot_be_one_is_refused_and_not_kept(said: str):
    """Without an answer it would stay forever, as it has no token to be asked for and no clock."""
    async with served(Guard(hello, token="t")) as server:
        line = await server.dial()
        await line.say(said)

        assert await problem(line) == (400, "BAD_REQUEST")
        assert await line.is_closed()
        await until(lambda: server.connections == 0)


async def test_who_is_refused_a_websocket_cannot_fill_the_log(caplog: pytest.LogCaptureFixture):
    async with served(Guard(hello, token="t")) as server:
        line = await server.dial()
        await line.say(f"GET /rpc HTTP/1.1\r\n{UPGRADE}sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")

        assert await problem(line) == (401, "UNAUTHORIZED")
        assert await line.is_closed()
    assert caplog.records == []
