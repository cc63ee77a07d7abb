"""OpenAI's Responses: requests, replies, and encrypted reasoning that is sent back unchanged."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from msgspec.structs import replace

from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, Text, ToolCall, Usage, user_message
from bridle.core.model import ModelReply, ModelRequest
from bridle.providers import HttpFault, Reply, Script
from bridle.providers.http import Endpoint
from bridle.providers.openai_responses import ResponsesProvider, _Reader, wire_body
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.conversation import ask, request
from tests.providers.oracles.conversations import (
    EVERYTHING,
    conversations,
    read_in_pieces,
    results,
    stored,
)
from tests.providers.scripted_server.reading import FULL, post

COMPLETED = {"type": "response.completed", "response": {"model": "gpt", "usage": None}}


def reader() -> _Reader:
    return _Reader(Endpoint("server", "http://h"), request())


def read(*events: Any, end: dict[str, Any] = COMPLETED) -> ModelReply:
    reading = reader()
    for event in [*events, end]:
        reading.read(msgspec.json.encode(event))
    return reading.reply()


def item(
    index: int, whole: dict[str, Any], *events: dict[str, Any], begins: bool = True
) -> list[dict[str, Any]]:
    added = {"type": "response.output_item.added", "output_index": index, "item": whole}
    return [
        *([added] if begins else []),
        *({"output_index": index} | event for event in events),
        {"type": "response.output_item.done", "output_index": index, "item": whole},
    ]


def delta(kind: str, text: str) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "delta": text}


MESSAGE = {"type": "message", "id": "msg_1"}
SAID = item(0, MESSAGE, delta("output_text", "a"))


# ---------------------------------------------------------------------------- request


async def test_a_plain_request():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        provider = ResponsesProvider.at("server", f"{server.url}/v1/", "secret", headers={"x-y": "z"})
        await ask(provider, request(max_output_tokens=100))
        await provider.aclose()
    (seen,) = server.requests

    assert (seen.path, seen.headers["authorization"], seen.headers["x-y"]) == (
        "/v1/responses",
        "Bearer secret",
        "z",
    )
    assert seen.body == snapshot(
        {
            "model": "m",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "max_output_tokens": 100,
            "stream": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "instructions": "Be terse.",
        }
    )


def test_a_conversation_with_everything_in_it():
    body = wire_body(EVERYTHING, {})

    assert body["tools"] == [
        {
            "type": "function",
            "name": "f",
            "description": "Does f.",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
        {
            "type": "function",
            "name": "g",
            "description": "",
            "parameters": {"type": "object"},
            "strict": False,
        },
    ]
    assert body["input"] == snapshot(
        [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look at "},
                    {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"},
                    {
                        "type": "input_file",
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,aGk=",
                    },
                    {
                        "type": "input_file",
                        "filename": "a.py",
                        "file_data": "data:text/x-python;base64,aGk=",
                    },
                    {
                        "type": "input_text",
                        "text": "[a file of type audio/wav was left out: this model cannot read it]",
                    },
                ],
            },
            {"type": "message", "role": "assistant", "content": "I call "},
            {"type": "message", "role": "assistant", "content": "two"},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":"ü"}'},
            {
                "type": "function_call",
                "call_id": "call_c53c6aac4ee368da7f6ff5c395459d6e",
                "name": "g",
                "arguments": '{"invalid_json":"{\\"bro"}',
            },
            {
                "type": "function_call_output",
                "call_id": "call_c53c6aac4ee368da7f6ff5c395459d6e",
                "output": "two",
            },
            {
                "type": "function_call_output",
                "call_id": "a",
                "output": [
                    {"type": "input_text", "text": "one"},
                    {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"},
                ],
            },
            {"type": "message", "role": "developer", "content": "be quick"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go on"}]},
        ]
    )


async def test_parameters_pass_through_and_the_request_has_the_last_word():
    given_by_request = {"reasoning": {"effort": "high"}, "tool_choice": "required", "include": []}
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        provider = ResponsesProvider.at(
            "server", f"{server.url}/v1", params={"reasoning": {"effort": "low"}, "top_p": 0.5}
        )
        await ask(provider, request(params=given_by_request))
        await provider.aclose()
    body = server.requests[0].body

    assert {key: body[key] for key in given_by_request} == given_by_request
    assert body["top_p"] == 0.5


@given(conversations())
@settings(max_examples=60)
def test_any_conversation_follows_the_rules(asked: ModelRequest):
    items = wire_body(asked, {})["input"]

    assert items[0]["role"] in ("user", "developer")
    assert items[-1]["type"] != "reasoning"
    waiting: list[str] = []
    for before, this in zip([{}, *items], items, strict=False):
        match this["type"]:
            case "function_call":
                waiting.append(this["call_id"])
            case "function_call_output":
                waiting.remove(this["call_id"])
            case "message" if this["role"] in ("user", "developer"):
                assert not waiting
                assert before.get("type") != "reasoning"
            case "reasoning":
                assert this["encrypted_content"]
    assert not waiting


# ---------------------------------------------------------------------------- round trip


async def test_a_stored_reply_is_sent_back_as_it_came():
    async with ScriptedServer(Script((FULL, Reply("done")))) as server:
        provider = ResponsesProvider.at("server", f"{server.url}/v1")
        first = await ask(provider)
        assert first.reply is not None
        said = stored(first.reply)
        await ask(provider, request(user_message("hi"), said, results(said)))
        await provider.aclose()

    assert said == first.reply.message
    assert server.requests[1].body["input"][1:5] == [
        {
            "type": "reasoning",
            "id": "rs_0",
            "summary": [{"type": "summary_text", "text": "Hm, hm."}],
            "encrypted_content": "sealed-0",
        },
        {
            "type": "message",
            "id": "msg_0",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hello there.", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_0_0",
            "call_id": "call_0_0",
            "name": "f",
            "arguments": '{"path":"a long enough path"}',
        },
        {"type": "function_call", "id": "fc_0_1", "call_id": "own", "name": "g", "arguments": '{"b":2}'},
    ]


def test_items_of_every_kind_keep_their_place():
    summary = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    reply = read(
        *item(
            0,
            {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "one"},
            delta("reasoning_summary_text", "a"),
            {"type": "response.reasoning_summary_part.added", "summary_index": 1},
            delta("reasoning_summary_text", "b"),
        ),
        *item(1, {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "two"}),
        *item(2, MESSAGE | {"phase": "commentary"}, delta("output_text", "x"), delta("output_text", "y")),
        *item(
            3,
            {"type": "message", "id": "msg_2"},
            delta("output_text", "I"),
            {"type": "response.content_part.added", "content_index": 1},
            delta("refusal", "won't"),
        ),
        *item(4, {"type": "reasoning", "id": "rs_3"}, delta("reasoning_text", "raw")),
        *item(5, {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": ""}),
    )
    said = stored(reply)

    assert said.parts == (
        Reasoning("a\n\nb", {"openai": {"id": "rs_1", "encrypted_content": "one", "summary": ["a", "b"]}}),
        Reasoning("", {"openai": {"id": "rs_2", "encrypted_content": "two"}}),
        Text("xy", {"openai": {"id": "msg_1", "phase": "commentary"}}),
        Text("I", {"openai": {"id": "msg_2"}}),
        Text("won't", {"openai": {"id": "msg_2", "is_refusal": True}}),
        Reasoning("raw"),
        ToolCall(CallId("c"), "f", meta={"openai": {"id": "fc_1"}}),
    )
    frame = {"type": "message", "role": "assistant", "status": "completed"}
    assert wire_body(request(user_message("hi"), said), {})["input"][1:] == [
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "one"},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "two"},
        {
            **frame,
            "id": "msg_1",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "xy", "annotations": []}],
        },
        {
            **frame,
            "id": "msg_2",
            "content": [
                {"type": "output_text", "text": "I", "annotations": []},
                {"type": "refusal", "refusal": "won't"},
            ],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
    ]


def test_reasoning_that_nothing_follows_is_not_sent_back():
    """OpenAI refuses it, and a reply that the token limit cut off may end so."""
    cut = Message("assistant", (Reasoning("hm", {"openai": {"id": "rs_1", "encrypted_content": "s"}}),))

    items = wire_body(request(user_message("a"), cut, user_message("b")), {})["input"]

    assert [item["role"] for item in items] == ["user", "user"]


# ---------------------------------------------------------------------------- answer


async def test_bytes_may_be_split_anywhere():
    _, stream = await post(
        Script((replace(FULL, text="Grüße 🦊"),)),
        "/v1/responses",
        {"model": "m", "input": "hi", "stream": True},
    )
    whole = read_in_pieces(reader(), stream, 0)

    assert whole[1].message.text == "Grüße 🦊"
    assert all(read_in_pieces(reader(), stream, at) == whole for at in range(len(stream)))


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("max_output_tokens", "max_tokens"),
        ("content_filter", "content_filter"),
        ("what_is_this", "max_tokens"),
        (None, "max_tokens"),
    ],
)
def test_an_incomplete_answer(reason: str | None, stop_reason: str):
    response = {"incomplete_details": {"reason": reason} if reason else None}

    assert read(*SAID, end={"type": "response.incomplete", "response": response}).stop_reason == stop_reason


def test_calls_decide_that_the_turn_goes_on():
    call = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}

    assert read(*item(0, call)).stop_reason == "tool_use"


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {
                "input_tokens": 100,
                "output_tokens": 50,
                "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
                "output_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(30, 50, 60, 10, 20),
        ),
        ({"input_tokens": 5, "output_tokens": 1}, Usage(5, 1)),
        ({"input_tokens": 5, "input_tokens_details": {"cached_tokens": 9}}, Usage(0, 0, 9)),
        ({"input_tokens": None, "input_tokens_details": None, "output_tokens": "7"}, Usage()),
        (None, Usage()),
    ],
)
def test_every_token_is_counted_once(usage: Any, counted: Usage):
    end = {"type": "response.completed", "response": {"model": "gpt", "usage": usage}}

    reply = read(*SAID, end=end)

    assert (reply.usage, reply.model) == (counted, "gpt")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}, "rate_limited"),
        ({"type": "error", "error": {"type": "server_error", "message": "oh"}}, "server_error"),
        ({"type": "error"}, "server_error"),
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "oh"}}},
            "server_error",
        ),
        (
            {"type": "response.failed", "response": {"error": {"code": "context_length_exceeded"}}},
            "context_length_exceeded",
        ),
        (
            {"type": "response.failed", "response": {"error": {"code": "invalid_prompt", "message": "no"}}},
            "content_filtered",
        ),
        (
            {"type": "response.failed", "response": {"error": {"code": "invalid_image_format"}}},
            "invalid_request",
        ),
        ({"type": "response.failed", "response": {"error": None}}, "server_error"),
        ({"type": "response.failed", "response": None}, "server_error"),
    ],
)
def test_errors_in_mid_stream(event: dict[str, Any], kind: ProviderErrorKind):
    with pytest.raises(ProviderError) as caught:
        read(*SAID, event)

    assert caught.value.kind == kind


def test_a_server_may_send_items_whole():
    reply = read(
        *item(0, {"type": "reasoning", "id": "r", "summary": [{"text": "h"}, {"text": "m"}]}, begins=False),
        *item(1, MESSAGE | {"content": [{"text": "a"}, {"refusal": "b"}, {}, None]}, begins=False),
        *item(
            2, {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"x":1}'}, begins=False
        ),
        *item(3, {"type": "function_call", "call_id": "d", "name": "g", "arguments": '{"y":2}'}),
    )

    assert reply.message == Message(
        "assistant",
        (
            Reasoning("h\n\nm"),
            Text("a", {"openai": {"id": "msg_1"}}),
            Text("b", {"openai": {"id": "msg_1", "is_refusal": True}}),
            ToolCall(CallId("c"), "f", {"x": 1}),
            ToolCall(CallId("d"), "g", {"y": 2}),
        ),
    )


def test_odd_calls():
    """Cut off, announced twice at one place, without an id, or never announced."""
    call = {"type": "function_call", "call_id": "x", "name": "f"}
    reply = read(
        *item(0, call, delta("function_call_arguments", '{"a')),
        *item(0, call, delta("function_call_arguments", '{"b":1}')),
        *item(1, {"type": "function_call", "call_id": None, "name": None}),
        {"output_index": 7} | delta("function_call_arguments", "lost"),
    )

    assert reply.message.calls == (
        ToolCall(CallId("x"), "f", invalid='{"a'),
        ToolCall(CallId("x"), "f", {"b": 1}),
        ToolCall(CallId("call_0_2"), ""),
    )


def test_what_is_not_known_is_ignored():
    reply = read(
        {"type": "response.created", "response": None},
        {"type": "response.thinking.delta", "delta": {"a": 1}},
        {"type": "response.audio.delta", "delta": "UklGRg=="},
        {"type": None, "item": [], "response": 3},
        {},
        *item(0, {"type": "web_search_call", "id": "ws", "arguments": {"q": 1}, "content": 3}),
        *item(1, {"type": "message", "id": 5, "content": 7}),
        *item(2, {"type": "reasoning", "id": None, "summary": {"a": 1}, "encrypted_content": 9}),
        *item(3, MESSAGE, delta("output_text", "a"), delta("output_text", "")),
        {"type": "response.output_text.delta", "output_index": 3, "delta": None},
    )

    assert reply.message == Message("assistant", (Text("a", {"openai": {"id": "msg_1"}}),))


def test_an_end_is_needed():
    with pytest.raises(ProviderError, match="ended before the answer was complete"):
        read(*SAID, end={"type": "response.in_progress"})


def test_an_answer_with_nothing_in_it():
    with pytest.raises(ProviderError, match="sent an empty answer"):
        read()


async def test_a_key_that_a_server_quotes_is_not_shown():
    fault = HttpFault(401, body={"error": {"code": "invalid_api_key", "message": "Incorrect: sk-1"}})
    async with ScriptedServer(Script((Reply(fault=fault),))) as server:
        provider = ResponsesProvider.at("server", f"{server.url}/v1", "sk-1")
        with pytest.raises(ProviderError) as caught:
            [item async for item in provider.stream(request())]
        await provider.aclose()

    assert "sk-1" not in str(caught.value)
    assert caught.value.kind == "invalid_api_key"


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(
                    [
                        "response.output_item.added",
                        "response.output_item.done",
                        "response.output_text.delta",
                        "response.function_call_arguments.delta",
                        "response.incomplete",
                        "error",
                    ]
                )
            },
            optional=dict.fromkeys(
                ["output_index", "delta", "item", "response", "error"],
                st.recursive(
                    st.none() | st.integers(-1, 2) | st.sampled_from(["", "message", "function_call"]),
                    lambda inner: (
                        st.lists(inner, max_size=2)
                        | st.dictionaries(
                            st.sampled_from(["type", "id", "content", "summary", "usage", "arguments"]),
                            inner,
                            max_size=3,
                        )
                    ),
                    max_leaves=5,
                ),
            ),
        ),
        max_size=6,
    )
)
@settings(max_examples=60)
def test_any_events_give_a_reply_or_an_error(events: list[Any]):
    with suppress(ProviderError):
        assert read(*events).message.role == "assistant"
