"""The HTTP client: connections, time limits, hostile servers, and errors that leak nothing."""

import asyncio
import socket
import traceback
from contextlib import aclosing, suppress

import aiohttp
import msgspec
import pytest
from aiohttp.client_reqrep import ConnectionKey
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.messages import Message, Text, user_message
from bridle.core.protocol import TextDelta
from bridle.providers import HttpFault, Reply, Script, TruncateFault
from bridle.providers.http import Endpoint, HttpClient, decode_event, network_error
from bridle.providers.openai import OpenAIProvider
from bridle.providers.scripted_server import ScriptedServer
from tests.patience import PATIENCE_S
from tests.providers.conversation import Outcome, ask, request
from tests.providers.raw_server import HEAD, answering, sse

FINISHED = b'{"choices":[{"delta":{},"finish_reason":"stop"}]}'


def text(content: str) -> bytes:
    return msgspec.json.encode({"choices": [{"delta": {"content": content}}]})


async def ask_at(url: str, **options: float) -> Outcome:
    provider = OpenAIProvider.at("server", url, **options)
    try:
        return await ask(provider)
    finally:
        await provider.aclose()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# ---------------------------------------------------------------------------- connections


async def test_one_connection_serves_turn_after_turn():
    replies = (
        Reply("a"),
        Reply(fault=HttpFault(429)),
        Reply("b", fault=TruncateFault()),
        Reply("c"),
    )
    asked = [request(*[Message("assistant", (Text("x"),))] * n, user_message("go")) for n in range(4)]

    async with ScriptedServer(Script(replies)) as server:
        provider = OpenAIProvider.at("server", f"{server.url}/v1")
        outcomes = [await ask(provider, one) for one in asked]
        await provider.aclose()

    assert [outcome.error for outcome in outcomes] == [None, "rate_limited", "connection_reset", None]
    assert len({seen.peer for seen in server.requests}) == 1


async def test_a_client_can_be_used_again_after_it_was_closed():
    async with ScriptedServer(Script((Reply("a"),))) as server:
        provider = OpenAIProvider.at("server", f"{server.url}/v1")
        for _ in range(2):
            assert (await ask(provider)).shown == [("text", "a")]
            await provider.aclose()


async def test_a_server_that_closes_a_connection_it_promised_to_keep_is_asked_again():
    """llama-server does so after every stream; the next request may be on its way by then."""
    events = b"data: %b\n\ndata: %b\n\n" % (text("a"), FINISHED)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nKeep-Alive: timeout=5, max=100\r\n\r\n"
    async with answering(b"%b%x\r\n%b\r\n0\r\n\r\n" % (head, len(events), events)) as raw:
        provider = OpenAIProvider.at("server", raw.url)
        outcomes = [await ask(provider) for _ in range(3)]
        await provider.aclose()

    assert [outcome.error for outcome in outcomes] == [None, None, None]


async def test_cancelling_closes_the_connection():
    async with answering(sse(text("a")), hang_up=False) as raw:
        provider = OpenAIProvider.at("server", raw.url)
        seen = asyncio.Event()

        async def read() -> None:
            async for _ in provider.stream(request()):
                seen.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(seen.wait(), PATIENCE_S)
        task.cancel()
        await asyncio.wait([task])
        await asyncio.wait_for(raw.client_left.wait(), PATIENCE_S)
        await provider.aclose()

    assert task.cancelled()


async def test_cancelling_before_the_first_byte_closes_the_connection():
    async with answering(b"", hang_up=False) as raw:
        provider = OpenAIProvider.at("server", raw.url)
        task = asyncio.create_task(ask(provider))
        await asyncio.wait_for(raw.was_asked.wait(), PATIENCE_S)
        task.cancel()
        await asyncio.wait([task])
        await asyncio.wait_for(raw.client_left.wait(), PATIENCE_S)
        await provider.aclose()

    assert task.cancelled()


async def test_leaving_the_stream_closes_the_connection():
    async with answering(sse(text("a")), hang_up=False) as raw:
        provider = OpenAIProvider.at("server", raw.url)
        async with aclosing(provider.stream(request())) as stream:
            assert await anext(stream) == TextDelta("a")
        await asyncio.wait_for(raw.client_left.wait(), PATIENCE_S)
        await provider.aclose()


async def test_an_answer_is_complete_although_the_server_does_not_hang_up():
    async with answering(sse(text("a"), FINISHED, b"[DONE]"), hang_up=False) as raw:
        outcome = await ask_at(raw.url)

    assert outcome.shown == [("text", "a")]
    assert outcome.reply is not None


async def test_the_request_says_who_asks_and_what_is_wanted():
    async with answering(sse(text("a"), FINISHED)) as raw:
        provider = OpenAIProvider.at("server", f"{raw.url}/v1/", "sk-1", headers={"X-Team": "blue"})
        await ask(provider)
        await provider.aclose()

    head = raw.requests[0].partition(b"\r\n\r\n")[0].decode().lower()
    assert head.startswith("post /v1/chat/completions http/1.1")
    for line in (
        "authorization: bearer sk-1",
        "x-team: blue",
        "content-type: application/json",
        "accept: text/event-stream",
        "accept-encoding: identity",
        "user-agent: bridle/",
    ):
        assert f"\r\n{line}" in head


async def test_a_prompt_of_ten_megabytes_is_sent():
    async with ScriptedServer(Script((Reply("{last_user}"),))) as server:
        provider = OpenAIProvider.at("server", f"{server.url}/v1")
        outcome = await ask(provider, request(user_message("x" * 10_000_000)))
        await provider.aclose()

    assert outcome.shown == [("text", "x" * 10_000_000)]


# ---------------------------------------------------------------------------- failures


async def test_nobody_listens():
    assert await ask_at(f"http://127.0.0.1:{free_port()}") == Outcome(error="connection_reset")


async def test_a_server_that_speaks_no_tls():
    async with ScriptedServer(Script(())) as server:
        outcome = await ask_at(server.url.replace("http:", "https:"))

    assert outcome == Outcome(error="unknown")


async def test_a_connection_that_is_never_made():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        outcome = await ask_at(url, connect_timeout_s=0.05)

    assert outcome == Outcome(error="network_timeout")


async def test_silence_is_measured_between_bytes():
    """A stream may take longer than the limit, as long as something keeps coming."""
    async with ScriptedServer(Script((Reply(["a"] * 30, chunk_delay_ms=20),))) as server:
        outcome = await ask_at(f"{server.url}/v1", idle_timeout_s=0.5)

    assert outcome.shown == [("text", "a" * 30)]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", "connection_reset"),
        (b"HTTP/1.1 200", "connection_reset"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "server_error"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: {}\n\n",
            "connection_reset",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "server_error",
        ),
        (HEAD, "connection_reset"),
        (HEAD + b"no event stream at all", "connection_reset"),
        (sse(b"<html>"), "server_error"),
        (sse(b"[1]"), "server_error"),
        (sse(b"[" * 100_000), "server_error"),
        (sse(b'{"choices":"none"}'), "server_error"),
        (sse(text("a")[:-3]), "server_error"),
        (sse(b'{"error":{"message":"no","type":"overloaded_error"}}'), "server_overloaded"),
        (sse(b'{"error":"boom"}'), "server_error"),
        (sse(b'{"error":[1]}'), "server_error"),
        (sse(b'{"error":{"code":429,"message":"slow"}}'), "rate_limited"),
        (sse(b"x" * (17 * 1024 * 1024)), "server_error"),
        (
            b"HTTP/1.1 500 E\r\nContent-Length: 9999999\r\n\r\n" + b"x" * 99_999,
            "server_error",
        ),
    ],
    ids=lambda value: repr(value[:60]),
)
async def test_a_hostile_answer_is_an_error(answer: bytes, error: ProviderErrorKind):
    async with answering(answer) as raw:
        outcome = await ask_at(raw.url)

    assert outcome == Outcome(error=error)


async def test_ten_megabytes_on_one_line_are_an_answer():
    async with answering(sse(text("x" * 10_000_000), FINISHED)) as raw:
        outcome = await ask_at(raw.url)

    assert outcome.shown == [("text", "x" * 10_000_000)]


async def test_what_is_not_utf_8_is_replaced():
    bad = text("a?b").replace(b"?", b"\xff")
    half = text("c?d").replace(b"?", b"\\ud83d")
    pair = text("e?").replace(b"?", b"\\ud83e\\udd8a")
    async with answering(sse(bad, half, pair, FINISHED)) as raw:
        outcome = await ask_at(raw.url)

    assert outcome.shown == [("text", "a�bc�de🦊")]


@given(st.binary(max_size=200))
def test_any_payload_is_decoded_or_refused(data: bytes):
    with suppress(ProviderError):
        decode_event(msgspec.json.Decoder(dict), "x", data)


KEY = ConnectionKey("api.example", 443, True, True, None, None, None)


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "unknown")),
            "connection_reset",
            "host is not found",
        ),
        (
            aiohttp.ClientConnectorError(KEY, OSError(111, "refused")),
            "connection_reset",
            "cannot connect: refused",
        ),
        (aiohttp.ServerDisconnectedError(), "connection_reset", "was lost"),
        (aiohttp.ClientPayloadError("x"), "connection_reset", "was lost"),
        (aiohttp.ConnectionTimeoutError(), "network_timeout", "no connection within 1 s"),
        (aiohttp.SocketTimeoutError(), "network_timeout", "nothing arrived for 2 s"),
        (aiohttp.InvalidURL("http://"), "invalid_request", "address is invalid"),
        (ConnectionResetError(104, "reset by peer"), "connection_reset", "was lost: reset by peer"),
        (aiohttp.ClientError("x"), "unknown", "request failed"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_kind_of_a_network_failure(error: Exception, kind: ProviderErrorKind, says: str):
    found = network_error("x", error, aiohttp.ClientTimeout(connect=1, sock_read=2))

    assert found.kind == kind
    assert says in str(found)


# ---------------------------------------------------------------------------- secrets

SECRET = "sk-very-secret-0123456789"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 401 No\r\n\r\n"
        + msgspec.json.encode({"error": {"message": f"bad key {SECRET}", "code": "invalid_api_key"}}),
        b"HTTP/1.1 500 No\r\n\r\nAuthorization: Bearer " + SECRET.encode(),
        sse(msgspec.json.encode({"error": {"message": f"{SECRET} is over quota"}})),
        b"not http " + SECRET.encode() + b"\r\n\r\n",
    ],
    ids=["refused", "plain", "mid-stream", "no http"],
)
async def test_a_key_is_never_in_an_error(answer: bytes):
    async with answering(answer) as raw:
        provider = OpenAIProvider.at("server", raw.url, SECRET, headers={"X-Api-Key": f"other-{SECRET}"})
        with pytest.raises(ProviderError) as caught:
            async for _ in provider.stream(request()):
                pass
        await provider.aclose()

    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_secrets_are_the_values_of_telling_headers():
    endpoint = Endpoint("x", "http://h", {"Authorization": "Bearer abc", "X-Title": "t", "api-key": "def"})

    assert endpoint.secrets == ("Bearer abc", "abc", "def")


async def test_a_redirect_is_not_followed_with_the_key():
    async with ScriptedServer(Script((Reply("a"),))) as other:
        head = f"HTTP/1.1 307 Moved\r\nLocation: {other.url}/v1/chat/completions\r\n\r\n"
        async with answering(head.encode()) as raw:
            outcome = await ask_at(raw.url)

    assert outcome == Outcome(error="unknown")
    assert not other.requests


def test_a_client_needs_no_loop_until_it_is_used():
    assert HttpClient()
