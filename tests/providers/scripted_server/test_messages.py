"""Anthropic's Messages API, as served."""

from typing import Any, get_args

import msgspec
import pytest

from bridle.providers import Call, ErrorFault, Expect, HttpFault, Reply, Script, TruncateFault
from bridle.providers.errors import parse_error, response_error
from bridle.providers.script import Reason
from tests.providers.scripted_server.reading import FULL, answer_events, answer_json, post

PATH = "/v1/messages"
USAGE = {
    "input_tokens": 100,
    "output_tokens": 50,
    "cache_read_input_tokens": 30,
    "cache_creation_input_tokens": 7,
    "output_tokens_details": {"thinking_tokens": 11},
}
CONTENT = [
    {"type": "thinking", "thinking": "Hm, hm.", "signature": "signature-0"},
    {"type": "text", "text": "Hello there."},
    {"type": "tool_use", "id": "call_0_0", "name": "f", "input": {"path": "a long enough path"}},
    {"type": "tool_use", "id": "own", "name": "g", "input": {"b": 2}},
]


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "max_tokens": 10,
        "messages": list(messages) or [{"role": "user", "content": "hi"}],
    } | fields


def assemble(events: list[tuple[str, Any]]) -> dict[str, Any]:
    """Put a stream together as a client does."""
    message: dict[str, Any] = {}
    texts: dict[int, str] = {}
    for name, event in events:
        assert name == event["type"]
        match name:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                assert event["index"] == len(message["content"])
                message["content"].append(event["content_block"])
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                match delta["type"]:
                    case "text_delta":
                        block["text"] += delta["text"]
                    case "thinking_delta":
                        block["thinking"] += delta["thinking"]
                    case "signature_delta":
                        block["signature"] = delta["signature"]
                    case "input_json_delta":
                        texts[event["index"]] = texts.get(event["index"], "") + delta["partial_json"]
            case "message_delta":
                message |= event["delta"] | {"usage": event["usage"]}
    for index, text in texts.items():
        message["content"][index]["input"] = msgspec.json.decode(text)
    return message


async def test_a_whole_answer():
    message = await answer_json(Script((FULL,)), PATH, body())

    assert message["content"] == CONTENT
    assert message["usage"] == USAGE
    assert (message["type"], message["role"], message["model"]) == ("message", "assistant", "m")
    assert message["stop_reason"] == "tool_use"


async def test_a_stream_says_the_same():
    events = await answer_events(Script((FULL,)), PATH, body(stream=True))

    assert assemble(events) == await answer_json(Script((FULL,)), PATH, body())
    assert [name for name, _ in events if name != "content_block_delta"] == [
        "message_start",
        "ping",
        *["content_block_start", "content_block_stop"] * 4,
        "message_delta",
        "message_stop",
    ]


async def test_a_conversation_is_understood():
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "x", "signature": "y"}, *CONTENT[2:]],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_0_0", "content": "one"},
                {"type": "tool_result", "tool_use_id": "own", "content": [{"type": "text", "text": "two"}]},
            ],
        },
    ]
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    reply = Reply("{last_user} {tool_results}", expect=Expect("look", "two", "terse", ("f",)))
    system = [{"type": "text", "text": "be terse", "cache_control": {"type": "ephemeral"}}]

    answer = await answer_json(
        Script((Reply("no"), reply)), PATH, body(*messages, system=system, tools=tools)
    )

    assert answer["content"] == [{"type": "text", "text": "look one\ntwo"}]


@pytest.mark.parametrize("reason", get_args(Reason))
async def test_errors_are_told_in_the_vendors_words(reason: Reason):
    status, answer = await post(Script((Reply(fault=HttpFault(reason=reason)),)), PATH, body())

    assert msgspec.json.decode(answer)["type"] == "error"
    assert response_error("x", status, {}, answer).kind == reason


async def test_an_error_in_mid_stream_is_an_event():
    script = Script((Reply("a b", fault=ErrorFault(after=1, reason="server_overloaded", message="busy")),))

    name, event = (await answer_events(script, PATH, body(stream=True)))[-1]

    error = parse_error(event)
    assert name == "error"
    assert error is not None
    assert (error.types, error.message) == (("overloaded_error",), "busy")


async def test_a_truncated_stream_has_no_end():
    script = Script((Reply("a b", fault=TruncateFault()),))

    events = await answer_events(script, PATH, body(stream=True))

    assert events[-1][0] == "content_block_delta"


async def test_broken_arguments_are_streamed_as_they_are():
    events = await answer_events(Script((Reply(calls=(Call("f", '{"bro'),)),)), PATH, body(stream=True))

    deltas = [event["delta"]["partial_json"] for name, event in events if name == "content_block_delta"]
    assert "".join(deltas) == '{"bro'


async def test_a_request_that_is_none_is_refused():
    status, answer = await post(Script((Reply("a"),)), PATH, {"model": "m"})

    assert status == 400
    assert b"missing required field `max_tokens`" in answer
