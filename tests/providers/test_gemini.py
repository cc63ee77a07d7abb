"""Gemini: requests, replies, and signatures that stay with their parts."""

import asyncio
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
from bridle.core.messages import (
    Message,
    Reasoning,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    user_message,
)
from bridle.core.model import ModelReply, ModelRequest
from bridle.providers import HttpFault, Reply, Script
from bridle.providers.gemini import FOREIGN_SIGNATURE, GeminiProvider, _Reader, wire_body
from bridle.providers.http import Endpoint
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.conversation import ask, request
from tests.providers.oracles.conversations import (
    EVERYTHING,
    InTurns,
    conversations,
    read_in_pieces,
    results,
    stored,
)
from tests.providers.raw_server import sse
from tests.providers.scripted_server.reading import FULL, post


def reader() -> _Reader:
    return _Reader(Endpoint("server", "http://h"), request())


def chunk(*parts: Any, **candidate: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **candidate}]}


STOP = chunk(finishReason="STOP")


def read(*chunks: Any, end: dict[str, Any] = STOP) -> ModelReply:
    reading = reader()
    for event in [*chunks, end]:
        reading.read(msgspec.json.encode(event))
    assert not reading.goes_on()
    return reading.reply()


# ---------------------------------------------------------------------------- request


@pytest.mark.parametrize(
    ("model", "base", "path"),
    [
        ("gem", "", "/v1/models/gem:streamGenerateContent?alt=sse"),
        ("gem", "/v1beta/", "/v1beta/models/gem:streamGenerateContent?alt=sse"),
        ("models/gem", "/v1", "/v1/models/gem:streamGenerateContent?alt=sse"),
        ("../a/b?c#d", "", "/v1/models/..%2Fa%2Fb%3Fc%23d:streamGenerateContent?alt=sse"),
    ],
)
async def test_a_plain_request(model: str, base: str, path: str):
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        provider = GeminiProvider.at("server", server.url + base, "secret", headers={"x-y": "z"})
        await ask(provider, request(model=model, max_output_tokens=100))
        await provider.aclose()
    (seen,) = server.requests

    assert (seen.path, seen.headers["x-goog-api-key"], seen.headers["x-y"]) == (path, "secret", "z")
    assert seen.body == snapshot(
        {
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "generationConfig": {"maxOutputTokens": 100},
            "systemInstruction": {"parts": [{"text": "Be terse."}]},
        }
    )


def test_a_conversation_with_everything_in_it():
    body = wire_body(EVERYTHING, {})

    assert body["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "description": "Does f.",
                    "parametersJsonSchema": {"type": "object", "properties": {}},
                },
                {"name": "g", "description": "", "parametersJsonSchema": {"type": "object"}},
            ]
        }
    ]
    assert body["contents"] == snapshot(
        [
            {
                "role": "user",
                "parts": [
                    {"text": "look at "},
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                    {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}},
                    {"inlineData": {"mimeType": "text/x-python", "data": "aGk="}},
                    {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "I call "},
                    {"text": "two"},
                    {
                        "functionCall": {"id": "a", "name": "f", "args": {"x": "ü"}},
                        "thoughtSignature": "skip_thought_signature_validator",
                    },
                    {
                        "functionCall": {
                            "id": "call_c53c6aac4ee368da7f6ff5c395459d6e",
                            "name": "g",
                            "args": {"invalid_json": '{"bro'},
                        }
                    },
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "a",
                            "name": "f",
                            "response": {"output": "one"},
                            "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
                        }
                    },
                    {
                        "functionResponse": {
                            "id": "call_c53c6aac4ee368da7f6ff5c395459d6e",
                            "name": "g",
                            "response": {"error": "two"},
                        }
                    },
                    {"text": "be quick"},
                    {"text": "go on"},
                ],
            },
        ]
    )


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        ("gemini-3.8-flash", FOREIGN_SIGNATURE),
        ("gemini-2.5-pro", None),
        ("models/gemini-2.5-pro", None),
        ("gemini-20", FOREIGN_SIGNATURE),
    ],
)
def test_calls_of_others_are_signed_for_models_that_insist(model: str, signature: str | None):
    call = wire_body(replace(EVERYTHING, model=model), {})["contents"][1]["parts"][2]

    assert call.get("thoughtSignature") == signature


def test_a_result_is_named_after_its_call():
    call, result = ToolCall(CallId("a"), "f"), ToolResult(CallId("a"), "", "one")

    body = wire_body(request(Message("assistant", (call,)), Message("tool", (result,))), {})

    assert body["contents"][1]["parts"][0]["functionResponse"]["name"] == "f"


async def test_parameters_find_their_place_and_the_request_has_the_last_word():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        provider = GeminiProvider.at("server", server.url, params={"temperature": 1, "top_k": 3})
        await ask(
            provider,
            request(
                max_output_tokens=7,
                params={
                    "temperature": 0,
                    "tool_config": {"functionCallingConfig": {"mode": "ANY"}},
                    "generationConfig": {"thinkingConfig": {"thinkingBudget": 9}},
                },
            ),
        )
        await provider.aclose()
    body = server.requests[0].body

    assert body["generationConfig"] == {
        "maxOutputTokens": 7,
        "temperature": 0,
        "topK": 3,
        "thinkingConfig": {"thinkingBudget": 9},
    }
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}


@given(conversations())
@settings(max_examples=60)
def test_any_conversation_follows_the_rules(asked: ModelRequest):
    contents = wire_body(asked, {})["contents"]

    assert [content["role"] for content in contents] == (["user", "model"] * len(contents))[: len(contents)]
    called: list[tuple[str, str]] = []
    for content in contents:
        parts = content["parts"]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        calls = [part for part in parts if "functionCall" in part]
        assert parts
        assert [(answer["id"], answer["name"]) for answer in answers] == called
        assert all("functionResponse" in part for part in parts[: len(answers)])
        assert all(part["thoughtSignature"] for part in calls[:1])
        called = [(part["functionCall"]["id"], part["functionCall"]["name"]) for part in calls]


# ---------------------------------------------------------------------------- round trip


async def test_a_stored_reply_is_sent_back_as_it_came():
    async with ScriptedServer(Script((FULL, Reply("done")))) as server:
        provider = GeminiProvider.at("server", server.url)
        first = await ask(provider)
        assert first.reply is not None
        said = stored(first.reply)
        await ask(provider, request(user_message("hi"), said, results(said)))
        await provider.aclose()
    _, model, answers = server.requests[1].body["contents"]

    assert said == first.reply.message
    assert model["parts"] == [
        {"text": "Hm, hm.", "thought": True},
        {"text": "Hello there."},
        {
            "functionCall": {"id": "call_0_0", "name": "f", "args": {"path": "a long enough path"}},
            "thoughtSignature": "c2lnbmF0dXJl",
        },
        {"functionCall": {"id": "own", "name": "g", "args": {"b": 2}}},
    ]
    assert [part["functionResponse"]["id"] for part in answers["parts"]] == ["call_0_0", "own"]


def test_signed_parts_are_never_joined():
    reply = read(
        chunk({"text": "th", "thought": True}, {"text": "ink", "thought": True}),
        chunk({"text": "hm", "thought": True, "thoughtSignature": "one"}),
        chunk({"text": "Hel"}),
        chunk({"text": "lo"}),
        chunk({"text": "!", "thoughtSignature": "two"}, {"text": "?", "thoughtSignature": "three"}),
        chunk({"text": "more"}),
        chunk({"functionCall": {"name": "f"}, "thoughtSignature": "four"}, {"functionCall": {"name": "g"}}),
        chunk({"text": "", "thoughtSignature": "five"}, finishReason="STOP"),
    )
    said = stored(reply)

    assert said.parts == (
        Reasoning("think", {"gemini": {"thought": True}}),
        Reasoning("hm", {"gemini": {"thought": True, "thoughtSignature": "one"}}),
        Text("Hello"),
        Text("!", {"gemini": {"thoughtSignature": "two"}}),
        Text("?", {"gemini": {"thoughtSignature": "three"}}),
        Text("more"),
        ToolCall(CallId("call_0_0"), "f", meta={"gemini": {"thoughtSignature": "four"}}),
        ToolCall(CallId("call_0_1"), "g"),
        Text("", {"gemini": {"thoughtSignature": "five"}}),
    )
    assert wire_body(request(user_message("hi"), said), {})["contents"][1]["parts"] == [
        {"text": "think", "thought": True},
        {"text": "hm", "thought": True, "thoughtSignature": "one"},
        {"text": "Hello"},
        {"text": "!", "thoughtSignature": "two"},
        {"text": "?", "thoughtSignature": "three"},
        {"text": "more"},
        {"functionCall": {"id": "call_0_0", "name": "f", "args": {}}, "thoughtSignature": "four"},
        {"functionCall": {"id": "call_0_1", "name": "g", "args": {}}},
        {"text": "", "thoughtSignature": "five"},
    ]


def test_thoughts_of_others_are_not_sent():
    said = Message("assistant", (Reasoning("hm", {"anthropic": {"signature": "s"}}), Text("a")))

    body = wire_body(request(user_message("hi"), said), {})

    assert body["contents"][1] == {"role": "model", "parts": [{"text": "a"}]}


# ---------------------------------------------------------------------------- answer


async def test_bytes_may_be_split_anywhere():
    _, stream = await post(
        Script((replace(FULL, text="Grüße 🦊"),)),
        "/v1/models/gem:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    )

    def in_pieces(at: int) -> tuple[str, ModelReply]:
        return read_in_pieces(reader(), stream, at)

    whole = in_pieces(0)

    assert whole[1].message.text == "Grüße 🦊"
    assert all(in_pieces(at) == whole for at in range(len(stream)))


@pytest.mark.parametrize(
    ("told", "stop_reason"),
    [
        ("STOP", "end_turn"),
        ("MAX_TOKENS", "max_tokens"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("CONTINUATION", "max_tokens"),
        ("OTHER", "end_turn"),
        ("WHAT_IS_THIS", "end_turn"),
    ],
)
def test_finish_reasons(told: str, stop_reason: StopReason):
    assert read(chunk({"text": "a"}, finishReason=told), end={}).stop_reason == stop_reason


@pytest.mark.parametrize("told", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
def test_a_call_that_is_none_can_be_tried_again(told: str):
    with pytest.raises(ProviderError, match=f"{told}: print\\(1\\)") as caught:
        read(chunk({"text": "a"}), end=chunk(finishReason=told, finishMessage="print(1)"))

    assert caught.value.kind == "server_error"


def test_a_prompt_that_was_blocked():
    with pytest.raises(ProviderError, match="the prompt was blocked: SAFETY") as caught:
        read({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}})

    assert caught.value.kind == "content_filtered"


@pytest.mark.parametrize(
    ("told", "kind"), [("SAFETY", "content_filtered"), ("STOP", "empty_reply"), ("OTHER", "empty_reply")]
)
def test_an_answer_with_nothing_in_it(told: str, kind: str):
    with pytest.raises(ProviderError) as caught:
        read(end=chunk(finishReason=told))

    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 60,
                "candidatesTokenCount": 30,
                "thoughtsTokenCount": 20,
                "toolUsePromptTokenCount": 5,
                "totalTokenCount": 155,
            },
            Usage(input=45, output=50, cache_read=60, reasoning=20),
        ),
        ({"promptTokenCount": 5}, Usage(5)),
        ({"promptTokenCount": 5, "cachedContentTokenCount": 9}, Usage(0, 0, 9)),
        ({"promptTokenCount": None, "candidatesTokenCount": "7"}, Usage()),
        (None, Usage()),
    ],
)
def test_every_token_is_counted_once(usage: Any, counted: Usage):
    reply = read(
        chunk({"text": "a"}) | {"usageMetadata": {"candidatesTokenCount": 0}}, STOP | {"usageMetadata": usage}
    )

    assert reply.usage == counted
    if usage and "totalTokenCount" in usage:
        assert reply.usage.context == usage["totalTokenCount"]


def test_what_is_not_known_is_ignored():
    reply = read(
        {},
        {"candidates": None, "usageMetadata": 3, "promptFeedback": {"blockReason": None}, "new": [1]},
        {"candidates": [{"content": None, "safetyRatings": []}, {"content": {"parts": None}}]},
        {"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "SAFETY"}]},
        chunk(
            {"executableCode": {"code": "1"}, "thoughtSignature": "x"},
            {"text": None, "thought": None},
            {"inlineData": {"data": ""}},
            {"functionCall": None},
            {"text": "a"},
        ),
    )

    assert reply == ModelReply(Message("assistant", (Text("a"),)), "end_turn")


def test_odd_calls():
    """Without an id, a name or arguments, and two with one id."""
    reply = read(
        chunk({"functionCall": {"name": "f", "args": {"x": 1}}}, {"functionCall": {"id": "i", "args": None}}),
        chunk(
            {"functionCall": {"id": "i", "name": "g", "args": {}}},
            {"functionCall": {"name": "h", "args": [1]}},
        ),
    )

    assert reply.message.calls == (
        ToolCall(CallId("call_0_0"), "f", {"x": 1}),
        ToolCall(CallId("i"), ""),
        ToolCall(CallId("i"), "g"),
        ToolCall(CallId("call_0_3"), "h", invalid="[1]"),
    )
    assert reply.stop_reason == "tool_use"


def test_an_end_is_needed():
    with pytest.raises(ProviderError, match="ended before the answer was complete"):
        read(chunk({"text": "a"}), end={})


def test_an_error_in_mid_stream_may_say_how_long_to_wait():
    error = {
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "Quota exceeded",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}],
    }

    with pytest.raises(ProviderError) as caught:
        read(chunk({"text": "a"}), {"error": error})

    assert (caught.value.kind, caught.value.retry_after_s) == ("rate_limited", 17.5)


async def test_a_key_that_a_server_quotes_is_not_shown():
    fault = HttpFault(400, body={"error": {"code": 400, "message": "API key not valid: AIza1"}})
    async with ScriptedServer(Script((Reply(fault=fault),))) as server:
        provider = GeminiProvider.at("server", server.url, "AIza1")
        with pytest.raises(ProviderError) as caught:
            [item async for item in provider.stream(request())]
        await provider.aclose()

    assert "AIza1" not in str(caught.value)
    assert "AIza1" not in server.requests[0].path
    assert caught.value.kind == "invalid_api_key"


async def test_a_long_answer_goes_on_in_another_request():
    raw = InTurns(
        sse(
            msgspec.json.encode(chunk({"text": "one "}) | {"usageMetadata": {"promptTokenCount": 5}}),
            msgspec.json.encode(chunk(finishReason="CONTINUATION", continuationToken="dG9rZW4=")),
        ),
        sse(
            msgspec.json.encode(
                chunk({"text": "two"}, finishReason="STOP") | {"usageMetadata": {"promptTokenCount": 7}}
            )
        ),
    )
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    async with server:
        provider = GeminiProvider.at("server", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        outcome = await ask(provider)
        await provider.aclose()
    first, second = (msgspec.json.decode(sent.partition(b"\r\n\r\n")[2]) for sent in raw.requests)

    assert outcome.shown == [("text", "one two")]
    assert outcome.reply == ModelReply(Message("assistant", (Text("one two"),)), "end_turn", Usage(12))
    assert second == first | {"continuationToken": "dG9rZW4="}


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["candidates", "usageMetadata", "promptFeedback", "error", "modelVersion"]),
            st.recursive(
                st.none() | st.integers(-1, 2) | st.sampled_from(["", "STOP", "a"]),
                lambda inner: (
                    st.lists(inner, max_size=2)
                    | st.dictionaries(
                        st.sampled_from(["content", "parts", "text", "functionCall", "args", "finishReason"]),
                        inner,
                        max_size=3,
                    )
                ),
                max_leaves=5,
            ),
            max_size=3,
        ),
        max_size=6,
    )
)
@settings(max_examples=60)
def test_any_events_give_a_reply_or_an_error(events: list[Any]):
    with suppress(ProviderError):
        assert read(*events).message.role == "assistant"
