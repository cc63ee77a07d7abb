"""Gemini, as served."""

from typing import Any, get_args

import msgspec
import pytest

from bridle.providers import Call, ErrorFault, Expect, HttpFault, Reply, Script, TruncateFault
from bridle.providers.errors import parse_error, response_error
from bridle.providers.script import Reason
from tests.providers.scripted_server.reading import FULL, answer_events, answer_json, post

WHOLE = "/v1/models/gem:generateContent"
STREAM = "/v1/models/gem:streamGenerateContent?alt=sse"
ARRAY = "/v1beta/models/gem:streamGenerateContent"
BODY = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
CALLS = [
    {
        "functionCall": {"id": "call_0_0", "name": "f", "args": {"path": "a long enough path"}},
        "thoughtSignature": "c2lnbmF0dXJl",
    },
    {"functionCall": {"id": "own", "name": "g", "args": {"b": 2}}},
]


def assemble(responses: list[Any]) -> tuple[str, str, list[Any], str]:
    """Put a row of responses together: thoughts, text, calls and the finish reason."""
    parts = [part for one in responses for part in one["candidates"][0]["content"]["parts"]]
    thoughts = "".join(part["text"] for part in parts if part.get("thought"))
    text = "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))
    finish = [
        one["candidates"][0]["finishReason"] for one in responses if "finishReason" in one["candidates"][0]
    ]
    return thoughts, text, [part for part in parts if "functionCall" in part], *finish


async def test_a_whole_answer():
    response = await answer_json(Script((FULL,)), WHOLE, BODY)

    assert assemble([response]) == ("Hm, hm.", "Hello there.", CALLS, "STOP")
    assert response["modelVersion"] == "gem"
    assert response["usageMetadata"] == {
        "promptTokenCount": 137,
        "cachedContentTokenCount": 30,
        "candidatesTokenCount": 39,
        "thoughtsTokenCount": 11,
        "totalTokenCount": 187,
    }


async def test_a_stream_says_the_same():
    events = await answer_events(Script((FULL,)), STREAM, BODY)
    array = await answer_json(Script((FULL,)), ARRAY, BODY)

    assert assemble([event for _, event in events]) == ("Hm, hm.", "Hello there.", CALLS, "STOP")
    assert assemble(array) == ("Hm, hm.", "Hello there.", CALLS, "STOP")
    assert {name for name, _ in events} == {""}


@pytest.mark.parametrize("with_ids", [True, False])
async def test_a_conversation_is_understood(with_ids: bool):
    def named(call: dict[str, Any], call_id: str) -> dict[str, Any]:
        return call | {"id": call_id} if with_ids else call

    contents = [
        {"role": "user", "parts": [{"text": "look"}]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"functionCall": named({"name": "f", "args": {"x": 1}}, "a")},
                {"functionCall": named({"name": "f", "args": {"x": 2}}, "b")},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": named({"name": "f", "response": {"output": "one"}}, "a")},
                {"functionResponse": named({"name": "f", "response": {"n": 2}}, "b")},
            ],
        },
    ]
    body = {
        "contents": contents,
        "systemInstruction": {"parts": [{"text": "be terse"}]},
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
    }
    reply = Reply("{last_user} {tool_results}", expect=Expect("look", "2", "terse", ("f",)))

    response = await answer_json(Script((Reply("no"), reply)), WHOLE, body)

    assert assemble([response])[1] == 'look one\n{"n":2}'


async def test_broken_arguments_are_a_finish_reason():
    response = await answer_json(Script((Reply("a", calls=(Call("f", '{"bro'),)),)), WHOLE, BODY)

    assert assemble([response]) == ("", "a", [], "MALFORMED_FUNCTION_CALL")


@pytest.mark.parametrize("reason", get_args(Reason))
async def test_errors_are_told_in_the_vendors_words(reason: Reason):
    status, answer = await post(Script((Reply(fault=HttpFault(reason=reason)),)), STREAM, BODY)

    assert msgspec.json.decode(answer)["error"]["code"] == status
    assert response_error("x", status, {}, answer).kind == reason


async def test_an_error_in_mid_stream_is_an_event():
    script = Script((Reply("a b", fault=ErrorFault(after=1, reason="server_overloaded", message="busy")),))

    event = (await answer_events(script, STREAM, BODY))[-1][1]

    error = parse_error(event)
    assert error is not None
    assert (error.types, error.status, error.message) == (("UNAVAILABLE",), 503, "busy")


async def test_a_truncated_stream_has_no_finish_reason():
    events = await answer_events(Script((Reply("a b", fault=TruncateFault()),)), STREAM, BODY)

    assert assemble([event for _, event in events]) == ("", "a b", [])
