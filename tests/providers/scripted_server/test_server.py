"""The server itself: its record of requests, its faults, its start from the command line."""

import asyncio
import signal
import sys
from pathlib import Path

import aiohttp
import msgspec
import pytest

from bridle.providers import (
    GarbageFault,
    HangFault,
    HttpFault,
    Reply,
    ResetFault,
    Script,
    TruncateFault,
)
from bridle.providers.script import ErrorFault, Fault
from bridle.providers.scripted_server import ScriptedServer
from bridle.providers.scripted_server.server import tokenize
from tests.patience import PATIENCE_S
from tests.providers.scripted_server.reading import post

HELLO = Path(__file__).parents[3] / "examples" / "scripts" / "hello.json"
ASKED = {
    "/v1/chat/completions": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "/v1/responses": {"model": "m", "input": "hi"},
    "/v1/messages": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]},
    "/v1/models/m:generateContent": {"contents": [{"parts": [{"text": "hi"}]}]},
}
STREAMED = {
    "/v1/models/m:streamGenerateContent?alt=sse" if "models" in path else path: body | {"stream": True}
    for path, body in ASKED.items()
}
EVERY_WIRE = [*ASKED.items(), *STREAMED.items()]


@pytest.mark.parametrize(("path", "body"), EVERY_WIRE)
@pytest.mark.parametrize(
    "fault", [ResetFault(after=0), ResetFault(), HangFault(after=0), HangFault()], ids=repr
)
async def test_a_connection_breaks_or_falls_silent_on_every_wire(path: str, body: object, fault: Fault):
    hangs = isinstance(fault, HangFault)
    timeout = aiohttp.ClientTimeout(sock_read=0.03 if hangs else 10)
    expected = aiohttp.SocketTimeoutError if hangs else aiohttp.ClientError
    async with (
        ScriptedServer(Script((Reply("a", fault=fault),))) as server,
        aiohttp.ClientSession(timeout=timeout) as client,
    ):
        with pytest.raises(expected):
            await (await client.post(f"{server.url}{path}", json=body)).read()


@pytest.mark.parametrize(("path", "body"), EVERY_WIRE)
async def test_garbage_and_truncation_on_every_wire(path: str, body: dict[str, object]):
    whole = await post(Script((Reply("one two"),)), path, body)
    cut = await post(Script((Reply("one two", fault=TruncateFault()),)), path, body)
    garbage = await post(Script((Reply("one two", fault=GarbageFault(data="\xff\n")),)), path, body)

    assert (whole[0], cut[0], garbage[0]) == (200, 200, 200)
    assert len(cut[1]) < len(whole[1])
    assert garbage[1].endswith(b"\xff\n")


@pytest.mark.parametrize(("path", "body"), EVERY_WIRE)
async def test_an_http_error_on_every_wire(path: str, body: dict[str, object]):
    fault = HttpFault(429, headers={"retry-after": "7"}, message="slow down")
    async with (
        ScriptedServer(Script((Reply(fault=fault),))) as server,
        aiohttp.ClientSession() as client,
        client.post(f"{server.url}{path}", json=body) as answer,
    ):
        assert answer.status == 429
        assert answer.headers["retry-after"] == "7"
        assert (await answer.json())["error"]["message"] == "slow down"


@pytest.mark.parametrize(("path", "body"), ASKED.items())
async def test_an_error_event_without_a_stream_is_an_error_answer(path: str, body: dict[str, object]):
    status, answer = await post(
        Script((Reply(fault=ErrorFault(reason="rate_limited", message="no")),)), path, body
    )

    assert status == 429
    assert msgspec.json.decode(answer)["error"]["message"] == "no"


@pytest.mark.parametrize(("path", "body"), EVERY_WIRE)
async def test_an_empty_answer_on_every_wire(path: str, body: dict[str, object]):
    status, answer = await post(Script((Reply(),)), path, body)

    assert status == 200
    assert answer


@pytest.mark.parametrize("path", ASKED)
async def test_a_body_that_is_no_request_is_refused(path: str):
    async with ScriptedServer(Script((Reply("a"),))) as server, aiohttp.ClientSession() as client:
        for body in (b"", b"\xff", b"[]", b"{}"):
            async with client.post(f"{server.url}{path}", data=body) as answer:
                assert answer.status == 400
                assert (await answer.json())["error"]["type"] == "invalid_request_error"


async def test_requests_are_kept_and_can_be_fetched():
    path, body = "/v1/chat/completions", ASKED["/v1/chat/completions"]
    async with ScriptedServer(Script((Reply("a"),))) as server, aiohttp.ClientSession() as client:
        for _ in range(2):
            async with client.post(f"{server.url}{path}?x=1", json=body, headers={"X-A": "b"}) as answer:
                await answer.read()
        async with client.get(f"{server.url}/_requests") as answer:
            fetched = await answer.json()

    assert [(seen.path, seen.body, seen.status) for seen in server.requests] == [
        (f"{path}?x=1", body, 200)
    ] * 2
    assert server.requests[0].headers["x-a"] == "b"
    assert server.requests[0].peer == server.requests[1].peer
    assert fetched == msgspec.to_builtins(list(server.requests))


async def start(*args: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bridle.providers.scripted_server",
        *args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def end(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    _, errors = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    return process.returncode, errors.decode()


async def test_it_starts_with_one_command_and_stops_with_a_signal():
    process = await start(str(HELLO), "--port", "0")
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()

    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{url}/v1/responses", json={"model": "m", "input": "moin"}) as answer,
    ):
        text = (await answer.json())["output"][0]["content"][0]["text"]
    process.send_signal(signal.SIGTERM)

    assert text == "Hello from the scripted model. You said: moin"
    assert await end(process) == (0, "")


async def test_it_may_stop_with_its_parent():
    process = await start(str(HELLO), "--exit-on-eof")
    assert process.stdout is not None
    assert process.stdin is not None
    await process.stdout.readline()

    process.stdin.close()

    assert await end(process) == (0, "")


async def test_a_bad_script_is_told_on_stderr(tmp_path: Path):
    (tmp_path / "bad.json").write_text('{"replies": [{"txt": 1}]}')

    code, errors = await end(await start(str(tmp_path / "bad.json")))

    assert code == 1
    assert errors.startswith(f"error: {tmp_path}/bad.json: Object contains unknown field `txt`")


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/health", {"status": "ok"}),
        ("/props", {"total_slots": 1}),
        ("/v1/models", {"object": "list"}),
    ],
)
async def test_a_client_finds_a_server_that_is_ready(path: str, part: dict[str, object]):
    async with (
        ScriptedServer(Script((), window_tokens=777)) as server,
        aiohttp.ClientSession() as client,
        client.get(f"{server.url}{path}") as answer,
    ):
        found = await answer.json()

    assert part.items() <= found.items()
    if path == "/props":
        assert found["default_generation_settings"]["n_ctx"] == 777
        assert found["chat_template_caps"]["supports_tools"] is True


async def test_tokens_over_http():
    async with ScriptedServer(Script(())) as server, aiohttp.ClientSession() as client:
        async with client.post(f"{server.url}/tokenize", json={"content": "one two"}) as answer:
            tokens = (await answer.json())["tokens"]
        async with client.post(f"{server.url}/tokenize", json={"text": "one two"}) as nothing:
            assert await nothing.json() == {"tokens": []}
        async with client.post(f"{server.url}/tokenize", data=b"{") as refused:
            assert refused.status == 400

    assert len(tokens) == 2


def test_pieces_join_to_the_text():
    text = "def hello():\n    print('wörld')  \n"

    tokens = tokenize(b'{"content": "def hello():\\n    print(\'w\xc3\xb6rld\')  \\n", "with_pieces": true}')[
        "tokens"
    ]
    short = tokenize(b'{"content": "a"}')["tokens"]

    assert "".join(token["piece"] for token in tokens) == text
    assert len(short) == 1
    assert 5 < len(tokens) < len(text)
