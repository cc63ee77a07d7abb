"""Anthropic's Messages: requests, replies, and thinking that is sent back unchanged."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from msgspec.structs import replace

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, Usage, user_message
from bridle.core.model import ModelReply, ModelRequest
from bridle.providers import HttpFault, Reply, Script
from bridle.providers.anthropic import AnthropicProvider, _Reader, wire_body
from bridle.providers.http import Endpoint
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

EPHEMERAL = {"type": "ephemeral"}
END = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]


def reader() -> _Reader:
    return _Reader(Endpoint("server", "http://h"), request())


def read(*events: Any, end: list[Any] = END) -> ModelReply:
    reading = reader()
    for event in [*events, *end]:
        reading.read(msgspec.json.encode(event))
    return reading.reply()


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, text: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})


# ---------------------------------------------------------------------------- request


async def test_a_plain_request():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        provider = AnthropicProvider.at("server", server.url, "secret", headers={"anthropic-beta": "x"})
        await ask(provider, request(max_output_tokens=100))
        await provider.aclose()
    (seen,) = server.requests

    assert seen.path == "/v1/messages"
    assert {
        name: seen.headers[name] for name in ("authorization", "anthropic-version", "anthropic-beta")
    } == {
        "authorization": "Bearer secret",
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "x",
    }
    assert seen.body == snapshot(
        {
            "model": "m",
            "max_tokens": 100,
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}],
                }
            ],
            "stream": True,
            "system": [{"type": "text", "text": "Be terse.", "cache_control": {"type": "ephemeral"}}],
        }
    )


def test_a_conversation_with_everything_in_it():
    assert wire_body(EVERYTHING, {"cache_control": None})["messages"] == snapshot(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look at "},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    },
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
                        "title": "a.pdf",
                    },
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "hi"},
                        "title": "a.py",
                    },
                    {
                        "type": "text",
                        "text": "[a file of type audio/wav was left out: this model cannot read it]",
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I call "},
                    {"type": "text", "text": "two"},
                    {"type": "tool_use", "id": "a", "name": "f", "input": {"x": "ü"}},
                    {
                        "type": "tool_use",
                        "id": "call_c53c6aac4ee368da7f6ff5c395459d6e",
                        "name": "g",
                        "input": {"invalid_json": '{"bro'},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": [
                            {"type": "text", "text": "one"},
                            {
                                "type": "image",
                                "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                            },
                        ],
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "call_c53c6aac4ee368da7f6ff5c395459d6e",
                        "content": [{"type": "text", "text": "two"}],
                        "is_error": True,
                    },
                    {"type": "text", "text": "be quick"},
                    {"type": "text", "text": "go on"},
                ],
            },
        ]
    )


def test_the_prompt_is_cached_up_to_four_places():
    body = wire_body(EVERYTHING, {})

    assert [block.get("cache_control") for block in body["tools"]] == [None, EPHEMERAL]
    assert [block.get("cache_control") for block in body["system"]] == [EPHEMERAL]
    assert [
        [n for n, block in enumerate(message["content"]) if "cache_control" in block]
        for message in body["messages"]
    ] == [[], [3], [3]]


@pytest.mark.parametrize(
    ("params", "kept", "ours"),
    [
        ({}, 0, 4),
        ({"cache_control": None}, 0, 0),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, 1, 3),
        ({"tools": [{"name": "f", "input_schema": {}, "cache_control": EPHEMERAL}] * 2}, 2, 2),
        ({"metadata": [{"cache_control": EPHEMERAL}] * 9}, 9, 0),
    ],
    ids=["ours", "none", "automatic", "the caller's tools", "too many"],
)
def test_breakpoints_of_the_caller_count(params: dict[str, Any], kept: int, ours: int):
    body = wire_body(EVERYTHING, params)
    theirs = msgspec.json.encode({key: body[key] for key in params}).count(b'"type":"ephemeral"')
    mine = msgspec.json.encode({key: body[key] for key in body if key not in params})

    assert (theirs, mine.count(b'"type":"ephemeral"')) == (kept, ours)
    assert mine.count(b'"ttl":"1h"') == (ours if "ttl" in str(params) else 0)


def test_parameters_pass_through():
    params = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "top_k": 5, "max_tokens": 9}
    body = wire_body(EVERYTHING, params | {"tool_choice": {"type": "tool", "name": "f"}})

    assert {key: body[key] for key in params} == params
    assert body["tool_choice"] == {"type": "tool", "name": "f"}


async def test_the_request_has_the_last_word_on_parameters():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        provider = AnthropicProvider.at("server", f"{server.url}/v1/", params={"top_k": 1, "top_p": 0.5})
        await ask(provider, request(params={"top_k": 2}))
        await provider.aclose()

    assert (server.requests[0].path, server.requests[0].body["top_k"], server.requests[0].body["top_p"]) == (
        "/v1/messages",
        2,
        0.5,
    )


@given(conversations())
@settings(max_examples=60)
def test_any_conversation_follows_the_rules(asked: ModelRequest):
    body = wire_body(asked, {})
    messages = body["messages"]

    assert [message["role"] for message in messages] == (["user", "assistant"] * len(messages))[
        : len(messages)
    ]
    called: list[str] = []
    for message in messages:
        blocks = message["content"]
        kinds = [block["type"] for block in blocks]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert answered == called
        assert kinds[: len(answered)] == ["tool_result"] * len(answered)
        assert blocks
        assert kinds[-1] not in ("thinking", "redacted_thinking")
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        assert all(block["signature"] for block in blocks if block["type"] == "thinking")
        assert all(block["data"] for block in blocks if block["type"] == "redacted_thinking")
        called = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert len(set(called)) == len(called)
    assert msgspec.json.encode(body).count(b'"cache_control"') <= 4


# ---------------------------------------------------------------------------- round trip


async def test_a_stored_reply_is_sent_back_as_it_came():
    async with ScriptedServer(Script((FULL, Reply("done")))) as server:
        provider = AnthropicProvider.at("server", server.url)
        first = await ask(provider)
        assert first.reply is not None
        said = stored(first.reply)
        await ask(provider, request(user_message("hi"), said, results(said)))
        await provider.aclose()
    assistant, answers = server.requests[1].body["messages"][1:]

    assert said == first.reply.message
    assistant["content"][-1].pop("cache_control")
    assert assistant["content"] == [
        {"type": "thinking", "thinking": "Hm, hm.", "signature": "signature-0"},
        {"type": "text", "text": "Hello there."},
        {"type": "tool_use", "id": "call_0_0", "name": "f", "input": {"path": "a long enough path"}},
        {"type": "tool_use", "id": "own", "name": "g", "input": {"b": 2}},
    ]
    assert [block["tool_use_id"] for block in answers["content"]] == ["call_0_0", "own"]


def test_thinking_of_every_kind_keeps_its_place():
    reply = read(
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "a"},
            {"type": "thinking_delta", "thinking": "b"},
            {"type": "signature_delta", "signature": "one"},
        ),
        *block(1, {"type": "redacted_thinking", "data": "sealed"}),
        *block(2, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "two"}),
        *text_block(3, "x"),
        *text_block(4, "y"),
        *block(5, {"type": "thinking"}, {"type": "thinking_delta", "thinking": "c"}),
        *block(6, {"type": "tool_use", "id": "t", "name": "f", "input": {}}),
    )
    said = stored(reply)

    assert said.parts == (
        Reasoning("ab", {"anthropic": {"signature": "one"}}),
        Reasoning("", {"anthropic": {"redacted": "sealed"}}),
        Reasoning("", {"anthropic": {"signature": "two"}}),
        Text("x"),
        Text("y"),
        Reasoning("c"),
        ToolCall(CallId("t"), "f"),
    )
    assert wire_body(request(user_message("hi"), said), {"cache_control": None})["messages"][1][
        "content"
    ] == [
        {"type": "thinking", "thinking": "ab", "signature": "one"},
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "thinking", "thinking": "", "signature": "two"},
        {"type": "text", "text": "x"},
        {"type": "text", "text": "y"},
        {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    ]


def test_thinking_alone_is_not_sent_back():
    """Anthropic refuses a message that ends in thinking, as one cut off by the token limit does."""
    cut = Message("assistant", (Reasoning("hm", {"anthropic": {"signature": "s"}}),))

    body = wire_body(request(user_message("a"), cut, user_message("b")), {"cache_control": None})

    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    ]


# ---------------------------------------------------------------------------- answer


async def test_bytes_may_be_split_anywhere():
    _, stream = await post(
        Script((replace(FULL, text="Grüße 🦊"),)),
        "/v1/messages",
        {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}], "stream": True},
    )
    whole = read_in_pieces(reader(), stream, 0)

    assert whole[1].message.text == "Grüße 🦊"
    assert all(read_in_pieces(reader(), stream, at) == whole for at in range(len(stream)))


@pytest.mark.parametrize(
    ("told", "stop_reason"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("tool_use", "end_turn"),
        ("refusal", "content_filter"),
        ("pause_turn", "end_turn"),
        ("model_context_window_exceeded", "max_tokens"),
        ("what_is_this", "end_turn"),
    ],
)
def test_stop_reasons(told: str, stop_reason: str):
    end = [{"type": "message_delta", "delta": {"stop_reason": told}}]

    assert read(*text_block(0, "a"), end=end).stop_reason == stop_reason


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("refusal", "content_filtered"),
        ("model_context_window_exceeded", "context_length_exceeded"),
        ("end_turn", "empty_reply"),
    ],
)
def test_an_answer_with_nothing_in_it(told: str, kind: str):
    with pytest.raises(ProviderError) as caught:
        read(end=[{"type": "message_delta", "delta": {"stop_reason": told}}])

    assert caught.value.kind == kind


def test_tokens_are_counted_once_and_the_newest_count_wins():
    start = {
        "input_tokens": 10,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 30,
        "output_tokens": 1,
    }
    end = {
        "input_tokens": None,
        "output_tokens": 40,
        "cache_read_input_tokens": 21,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    reply = read(
        {"type": "message_start", "message": {"model": "claude", "usage": start}},
        *text_block(0, "a"),
        end=[{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": end}],
    )

    assert (reply.usage, reply.usage.context, reply.model) == (Usage(10, 40, 21, 30, 5), 101, "claude")


def test_what_is_not_known_is_ignored():
    reply = read(
        {"type": "ping"},
        {"type": "notice", "message": "hello", "delta": "x", "usage": 3, "content_block": []},
        {"type": None},
        {},
        {"type": "message_start", "message": None},
        *block(0, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}, "data": {}}),
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{"},
        },
        *block(1, {"type": "web_search_tool_result", "content": [{"text": 1}]}),
        *text_block(2, "a"),
        {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": None}},
        {"type": "content_block_delta", "index": 2, "delta": None},
        {"type": "content_block_start", "index": 3, "content_block": None},
    )

    assert reply.message == Message("assistant", (Text("a"),))


def test_odd_calls():
    """Cut off, announced twice at one place, without an id, or sent whole."""
    start = {"type": "tool_use", "id": "x", "name": "f", "input": {}}
    reply = read(
        *block(0, start, {"type": "input_json_delta", "partial_json": '{"a'}),
        *block(0, start, {"type": "input_json_delta", "partial_json": '{"b":1}'}),
        *block(1, {"type": "tool_use", "id": None, "name": None}),
        *block(2, {"type": "tool_use", "id": "w", "name": "g", "input": {"c": 1}}),
        {"type": "content_block_delta", "index": 7, "delta": {"partial_json": "lost"}},
    )

    assert reply.message.calls == (
        ToolCall(CallId("x"), "f", invalid='{"a'),
        ToolCall(CallId("x"), "f", {"b": 1}),
        ToolCall(CallId("call_0_2"), ""),
        ToolCall(CallId("w"), "g", {"c": 1}),
    )
    assert reply.stop_reason == "tool_use"


def test_an_end_is_needed():
    with pytest.raises(ProviderError, match="ended before the answer was complete"):
        read(*text_block(0, "a"), end=[])
    assert read(*text_block(0, "a"), end=END[1:]).message.text == "a"


async def test_a_key_that_a_server_quotes_is_not_shown():
    fault = HttpFault(401, body={"error": {"type": "authentication_error", "message": "bad: sk-ant-1"}})
    async with ScriptedServer(Script((Reply(fault=fault),))) as server:
        provider = AnthropicProvider.at("server", server.url, "sk-ant-1")
        with pytest.raises(ProviderError) as caught:
            [item async for item in provider.stream(request())]
        await provider.aclose()

    assert "sk-ant-1" not in str(caught.value)
    assert caught.value.kind == "authentication_failed"


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(
                    ["message_start", "content_block_start", "content_block_delta", "message_delta", "error"]
                )
            },
            optional=dict.fromkeys(
                ["index", "delta", "content_block", "message", "usage", "error"],
                st.recursive(
                    st.none() | st.integers(-1, 2) | st.sampled_from(["", "text", "tool_use", "thinking"]),
                    lambda inner: (
                        st.lists(inner, max_size=2)
                        | st.dictionaries(
                            st.sampled_from(["type", "text", "input", "id", "usage", "partial_json", "data"]),
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


def test_a_file_that_lies_about_its_type_is_left_out():
    asked = request(Message("user", (Media("text/plain", "/w==", "a.txt"), Media("image/tiff", "aGk="))))

    content = wire_body(asked, {"cache_control": None})["messages"][0]["content"]

    assert [block["text"] for block in content] == [
        "[a.txt of type text/plain was left out: this model cannot read it]",
        "[a file of type image/tiff was left out: this model cannot read it]",
    ]
