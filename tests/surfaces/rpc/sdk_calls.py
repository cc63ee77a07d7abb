"""Makes every call that old and new Meerkat SDKs have in common with Bridle; prints what came back.

    python sdk_calls.py PROGRAM SCRIPT

The test puts the SDK onto the path: two of them cannot be imported into one process.
"""

import asyncio
import json
import sys
from typing import Any

from meerkat import MeerkatClient, MeerkatError


async def streamed(stream: Any) -> list[str]:
    async with stream as events:
        return [type(event).__name__ async for event in events]


async def make_calls(client: Any, model: dict[str, Any], told: dict[str, Any]) -> None:
    """Make the calls of a connected client."""
    session = await client.create_session("hi", **model)
    again = await session.turn("again")
    told["texts"] = [session.text, again.text]
    told["created"] = await streamed(client.create_session_streaming("hi", **model))
    told["turned"] = await streamed(session.stream("once more"))
    await session.interrupt()
    told["listed"] = len(await client.list_sessions())
    read = await client.read_session(session.id)
    told["messages"] = read["message_count"] if isinstance(read, dict) else read.message_count
    told["skills"] = len(await client.list_skills())
    told["peers"] = [peer["name"] for peer in await session.peers()]
    told["sent"] = await session.send(kind="peer_message", to="peer", body="hello")
    told["asked"] = await session.send(kind="peer_request", to="peer", intent="count", params={"n": 3})
    await change_settings(client, told)
    if hasattr(client, "inspect_skill"):
        told["skill"] = (await client.inspect_skill("sums"))["body"]
    if hasattr(client, "create_deferred_session"):
        deferred = await client.create_deferred_session("Know this.", **model)
        told["deferred"] = (await deferred.start_turn("Now.")).text
        told["history"] = len((await session.history()).messages)
    await session.archive()
    told["left"] = len(await client.list_sessions())


async def change_settings(client: Any, told: dict[str, Any]) -> None:
    """Read, patch and set the settings, with the keys of Meerkat."""
    before = await client.get_config()
    patch = {"max_tokens": 4096, "agent": {"temperature": 0.5}}
    told["patched"] = await client.patch_config(patch, expected_generation=before["generation"])
    try:
        await client.patch_config({"max_tokens": 1}, expected_generation=before["generation"])
    except MeerkatError as error:
        told["stale"] = error.code
    await client.patch_config({"max_tokens": None})
    told["cleared"] = (await client.get_config())["config"]
    await client.set_config({"max_tokens": 2048, "budget": {"max_duration": "30m"}})
    told["set"] = (await client.get_config())["config"]


async def main(program: str, script: str) -> None:
    client, told = MeerkatClient(program), dict[str, Any]()
    await client.connect()
    try:
        await make_calls(client, {"model": script, "provider": "scripted"}, told)
    finally:
        await client.close()
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
