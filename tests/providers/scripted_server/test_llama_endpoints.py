"""The endpoints of a llama-server besides chat."""

import aiohttp
import pytest

from bridle.providers import Script
from bridle.providers.scripted_server import ScriptedServer
from bridle.providers.scripted_server.llama_endpoints import tokenize


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
