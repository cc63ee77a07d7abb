"""Chat Completions without a stream; the contract tests cover streams."""

import aiohttp
from inline_snapshot import snapshot

from bridle.providers import Call, Reply, Script
from bridle.providers.script import ScriptUsage
from bridle.providers.scripted_server import ScriptedServer

REPLY = Reply(
    "Hello.",
    "Hm.",
    (Call("f", {"a": 1}), Call("g", '{"bro')),
    usage=ScriptUsage(input=100, output=50, cache_read=30, cache_write=7, reasoning=11),
)


async def test_a_whole_answer():
    body = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
    async with (
        ScriptedServer(Script((REPLY,))) as server,
        aiohttp.ClientSession() as client,
        client.post(f"{server.url}/v1/chat/completions", json=body) as answer,
    ):
        assert await answer.json() == snapshot(
            {
                "id": "chatcmpl-scripted",
                "object": "chat.completion",
                "created": 1763190000,
                "model": "m",
                "choices": [
                    {
                        "index": 0,
                        "message": {
                            "role": "assistant",
                            "content": "Hello.",
                            "refusal": None,
                            "reasoning_content": "Hm.",
                            "tool_calls": [
                                {
                                    "id": "call_0_0",
                                    "type": "function",
                                    "function": {"name": "f", "arguments": '{"a":1}'},
                                },
                                {
                                    "id": "call_0_1",
                                    "type": "function",
                                    "function": {"name": "g", "arguments": '{"bro'},
                                },
                            ],
                        },
                        "logprobs": None,
                        "finish_reason": "tool_calls",
                    }
                ],
                "usage": {
                    "prompt_tokens": 137,
                    "completion_tokens": 50,
                    "total_tokens": 187,
                    "prompt_tokens_details": {
                        "cached_tokens": 30,
                        "cache_write_tokens": 7,
                        "audio_tokens": 0,
                    },
                    "completion_tokens_details": {"reasoning_tokens": 11, "audio_tokens": 0},
                },
            }
        )


async def test_usage_is_streamed_only_if_asked_for():
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
    async with (
        ScriptedServer(Script((Reply("a"),))) as server,
        aiohttp.ClientSession() as client,
        client.post(f"{server.url}/v1/chat/completions", json=body) as answer,
    ):
        stream = await answer.text()

    assert "usage" not in stream
    assert stream.endswith("data: [DONE]\n\n")
