"""OpenAI's Responses API, as served."""

from typing import Any

import pytest

from bridle.core.messages import StopReason
from bridle.providers import Call, ErrorFault, Expect, HttpFault, Reply, Script, TruncateFault
from bridle.providers.errors import response_error
from tests.providers.scripted_server.reading import FULL, answer_events, answer_json, post

PATH = "/v1/responses"
OUTPUT = [
    {
        "id": "rs_0",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Hm, hm."}],
        "encrypted_content": "sealed-0",
        "status": "completed",
    },
    {
        "id": "msg_0",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hello there.", "annotations": [], "logprobs": []}],
    },
    {
        "id": "fc_0_0",
        "type": "function_call",
        "status": "completed",
        "call_id": "call_0_0",
        "name": "f",
        "arguments": '{"path":"a long enough path"}',
    },
    {
        "id": "fc_0_1",
        "type": "function_call",
        "status": "completed",
        "call_id": "own",
        "name": "g",
        "arguments": '{"b":2}',
    },
]


def body(given: Any = "hi", **fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": given} | fields


def joined(events: list[tuple[str, Any]], kind: str) -> list[str]:
    """Join the deltas of one kind, item by item."""
    texts: dict[str, str] = {}
    for name, event in events:
        if name == kind:
            texts[event["item_id"]] = texts.get(event["item_id"], "") + event["delta"]
    return list(texts.values())


async def test_a_whole_answer():
    response = await answer_json(Script((FULL,)), PATH, body())

    assert response["output"] == OUTPUT
    assert (response["object"], response["status"], response["model"]) == ("response", "completed", "m")
    assert response["usage"] == {
        "input_tokens": 137,
        "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 7},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 11},
        "total_tokens": 187,
    }


async def test_a_stream_says_the_same():
    events = await answer_events(Script((FULL,)), PATH, body(stream=True))

    assert all(name == event["type"] for name, event in events)
    assert [event["sequence_number"] for _, event in events] == list(range(len(events)))
    assert [event["item"] for name, event in events if name == "response.output_item.done"] == OUTPUT
    assert joined(events, "response.reasoning_summary_text.delta") == ["Hm, hm."]
    assert joined(events, "response.output_text.delta") == ["Hello there."]
    assert joined(events, "response.function_call_arguments.delta") == [
        '{"path":"a long enough path"}',
        '{"b":2}',
    ]
    assert events[-1][0] == "response.completed"
    assert events[-1][1]["response"] == await answer_json(Script((FULL,)), PATH, body())


async def test_a_conversation_is_understood():
    items = [
        {"role": "developer", "content": "be terse"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
        *OUTPUT,
        {"type": "function_call_output", "call_id": "call_0_0", "output": "one"},
        {"type": "function_call_output", "call_id": "own", "output": [{"type": "input_text", "text": "two"}]},
    ]
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True}]
    reply = Reply("{last_user} {tool_results}", expect=Expect("look", "two", "terse", ("f",)))

    response = await answer_json(Script((Reply("no"), reply)), PATH, body(items, tools=tools))

    assert response["output"][0]["content"][0]["text"] == "look one\ntwo"


@pytest.mark.parametrize(
    ("stop_reason", "told"), [("max_tokens", "max_output_tokens"), ("content_filter", "content_filter")]
)
async def test_an_answer_that_was_stopped(stop_reason: StopReason, told: str):
    script = Script((Reply("cut", stop_reason=stop_reason),))

    name, event = (await answer_events(script, PATH, body(stream=True)))[-1]

    assert name == "response.incomplete"
    assert event["response"]["incomplete_details"] == {"reason": told}


async def test_an_error_answer():
    fault = HttpFault(reason="rate_limited", headers={"retry-after": "3"})

    status, answer = await post(Script((Reply(fault=fault),)), PATH, body())

    assert response_error("x", status, {}, answer).kind == "rate_limited"


async def test_an_error_in_mid_stream_is_an_event():
    script = Script((Reply("a b", fault=ErrorFault(after=1, reason="server_overloaded", message="busy")),))

    name, event = (await answer_events(script, PATH, body(stream=True)))[-1]

    assert name == "error"
    assert (event["code"], event["message"]) == ("server_is_overloaded", "busy")


async def test_a_truncated_stream_has_no_end():
    events = await answer_events(Script((Reply("a b", fault=TruncateFault()),)), PATH, body(stream=True))

    assert events[-1][0] == "response.output_text.delta"


async def test_broken_arguments_are_sent_as_they_are():
    response = await answer_json(Script((Reply(calls=(Call("f", '{"bro'),)),)), PATH, body())

    assert response["output"][0]["arguments"] == '{"bro'
