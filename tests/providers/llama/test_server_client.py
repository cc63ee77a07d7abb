"""The self-descriptions of servers of several versions are read alike."""

from typing import Any

import pytest

from bridle.core.errors import ProviderError
from bridle.providers import Reply, Script
from bridle.providers.llama.server_client import (
    ServerAddress,
    ServerClient,
    ServerFacts,
    is_llama_server,
    is_loopback,
    list_models,
    parse_facts,
)
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.raw_server import answering

PROPS = {
    "default_generation_settings": {"n_ctx": 2048},
    "total_slots": 2,
    "chat_template_caps": {"supports_tools": False},
    "eos_token": "</s>",
}
MODELS = {"data": [{"id": "a", "meta": {"n_params": 1}}, {"id": "b", "meta": {"n_params": 2}}]}


@pytest.mark.parametrize(
    ("props", "models", "model", "facts"),
    [
        (PROPS, MODELS, "b", ServerFacts(2048, 2, 2, has_tools=False, end_token="</s>")),
        (PROPS, MODELS, "", ServerFacts(2048, 2, 0, has_tools=False, end_token="</s>")),
        (
            PROPS,
            {"data": MODELS["data"][:1]},
            "x",
            ServerFacts(2048, 2, 1, has_tools=False, end_token="</s>"),
        ),
        ({"chat_template": "{{ tools }}"}, None, "", ServerFacts()),
        ({"chat_template": "{{ messages }}"}, [], "", ServerFacts(has_tools=False)),
        ({"default_generation_settings": None, "total_slots": "x"}, {"data": [1]}, "", ServerFacts()),
    ],
)
def test_facts(props: dict[str, Any], models: Any, model: str, facts: ServerFacts) -> None:
    assert parse_facts(props, models, model) == facts


def test_an_address_does_not_show_its_key() -> None:
    assert repr(ServerAddress("http://127.0.0.1:1", "secret")) == "Address('http://127.0.0.1:1')"


async def test_a_server_that_is_not_there_is_not_well() -> None:
    control = ServerClient("llama")
    nobody = ServerAddress("http://127.0.0.1:1")

    assert not await control.is_healthy(nobody, 1)
    with pytest.raises(ProviderError, match="llama: /props cannot be reached"):
        await control.facts(nobody, "", 1)

    await control.aclose()


# ---------------------------------------------------------------------------- local servers


@pytest.mark.parametrize(
    ("base_url", "is_here"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://localhost:1234", True),
        ("http://[::1]:80/a", True),
        ("http://192.168.0.7:8080", False),
        ("https://api.openai.com/v1", False),
        ("http://localhost.evil.example", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_only_this_machine_is_looked_at(base_url: str, is_here: bool):
    assert is_loopback(base_url) is is_here


async def test_a_server_lists_its_models():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        assert await list_models(f"{server.url}/v1") == ["scripted"]


async def test_nothing_listens():
    assert await list_models("http://127.0.0.1:9/v1") is None


@pytest.mark.parametrize(
    ("status", "body", "models"),
    [
        (b"200 OK", b'{"data": [{"id": "a"}, {"id": 5}, "x", {}]}', ["a"]),
        (b"200 OK", b'{"data": []}', []),
        (b"401 Unauthorized", b"{}", []),
        (b"404 Not Found", b'{"data": [{"id": "a"}]}', None),
        (b"200 OK", b"<html>a router's page</html>", None),
        (b"200 OK", b"[]", None),
    ],
)
async def test_what_answers_may_be_something_else(status: bytes, body: bytes, models: list[str] | None):
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (
        status,
        len(body),
    )
    async with answering(head + body) as raw:
        assert await list_models(raw.url) == models


async def test_a_llama_server_is_told_from_others():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        assert await is_llama_server(f"{server.url}/v1")
    body = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}"
    async with answering(body) as raw:
        assert not await is_llama_server(raw.url)
    assert not await is_llama_server("http://127.0.0.1:9/v1")
