"""Streamable HTTP: the official client with the token, and all other clients."""

from pathlib import Path

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bridle.surfaces.mcp_server.http import serving_http
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.mcp_server.connecting import ERAS, Era, serving, text_of

TOKEN = "the-token"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize("era", ERAS)
async def test_the_official_client_runs_a_prompt_and_reads_it(home: Path, era: Era):
    told: list[str | None] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        serving_http(server, "127.0.0.1", 0, TOKEN) as http,
        httpx.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as browser,
        Client(
            streamable_http_client(f"http://127.0.0.1:{http.port}/mcp", http_client=browser), mode=era
        ) as client,
    ):
        result = await client.call_tool("bridle_run", {"prompt": "hi"}, progress_callback=tell)
        session = result.structured_content["session_id"]
        [transcript] = (await client.read_resource(f"bridle://sessions/{session}")).contents

        assert text_of(result) == "hello"
        assert "hello" in transcript.text
        assert "hello" in told


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": f"Bearer {TOKEN}", "host": "evil.example"}, 421),
        ({"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"}, 403),
        ({"authorization": f"Bearer {TOKEN}", "content-type": "text/plain"}, 415),
    ],
)
async def test_everybody_else_is_kept_out(home: Path, headers: dict[str, str], status: int):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        serving_http(server, "127.0.0.1", 0, TOKEN) as http,
        httpx.AsyncClient() as browser,
    ):
        wanted = {"accept": "application/json, text/event-stream", **headers}
        answer = await browser.post(f"http://127.0.0.1:{http.port}/mcp", json=PING, headers=wanted)

        assert answer.status_code == status
        assert TOKEN not in answer.text


async def test_a_body_that_is_too_large_is_refused(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        serving_http(server, "127.0.0.1", 0, TOKEN) as http,
        httpx.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as browser,
    ):
        answer = await browser.post(
            f"http://127.0.0.1:{http.port}/mcp",
            content=b" " * (9 * 1024 * 1024),
            headers={"content-type": "application/json"},
        )

        assert answer.status_code == 413


async def test_a_page_of_a_configured_origin_may_send_and_read_what_the_protocol_needs(home: Path):
    page = "https://app.example"
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        serving_http(server, "127.0.0.1", 0, TOKEN, (page,)) as http,
        httpx.AsyncClient() as browser,
    ):
        asked = {"origin": page, "access-control-request-method": "POST"}
        answer = await browser.options(f"http://127.0.0.1:{http.port}/mcp", headers=asked)

        needed = {"authorization", "content-type", "mcp-protocol-version", "mcp-session-id"}
        assert needed <= {*answer.headers["access-control-allow-headers"].split(", ")}
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"].split(", ")


async def test_it_is_known_by_the_address_where_it_was_told_to_listen(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        serving_http(server, "127.0.0.2", 0, TOKEN) as http,
        httpx.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as browser,
    ):
        answer = await browser.post(
            f"http://127.0.0.2:{http.port}/mcp",
            json=PING,
            headers={"accept": "application/json, text/event-stream"},
        )

        assert answer.status_code != 421
