import pytest

from bridle.providers import Reply, Script
from bridle.providers.local_servers import is_llama_server, is_loopback, list_models
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.raw_server import answering


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
