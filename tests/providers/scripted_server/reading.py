"""Small parsers for the other wires, written from the vendors' documents and checked with their SDKs."""

from typing import Any

import aiohttp
import msgspec

from bridle.providers import Call, Reply, Script
from bridle.providers.script import ScriptUsage
from bridle.providers.scripted_server import ScriptedServer
from bridle.providers.sse import SseParser

FULL = Reply(
    text="Hello there.",
    reasoning="Hm, hm.",
    calls=(Call("f", {"path": "a long enough path"}), Call("g", {"b": 2}, "own")),
    usage=ScriptUsage(input=100, output=50, cache_read=30, cache_write=7, reasoning=11),
)


async def post(script: Script, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
    """Ask a scripted server once."""
    async with (
        ScriptedServer(script) as server,
        aiohttp.ClientSession() as client,
        client.post(f"{server.url}{path}", json=body) as answer,
    ):
        return answer.status, await answer.read()


async def answer_json(script: Script, path: str, body: dict[str, Any]) -> Any:
    """Return an answer that is no stream."""
    return msgspec.json.decode((await post(script, path, body))[1])


async def answer_events(script: Script, path: str, body: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the name and the payload of every event of a stream."""
    _, stream = await post(script, path, body)
    return [(event.name, msgspec.json.decode(event.data)) for event in SseParser().feed(stream)]
