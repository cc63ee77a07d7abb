"""The `openai` package as an oracle: it reads the same replies and sends the same requests."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace
from openai import AsyncOpenAI
from openai.lib._pydantic import _ensure_strict_json_schema, to_strict_json_schema
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from bridle.core.messages import Usage
from bridle.core.model import ModelRequest
from bridle.providers import ErrorFault, Reply, Script
from bridle.providers.openai import OpenAIProvider
from bridle.providers.openai_responses import ResponsesProvider, wire_body
from bridle.providers.scripted_server import ScriptedServer
from bridle.providers.sse import encode_event
from bridle.providers.supported_schema import OPENAI, reduce_schema
from tests.providers.conversation import ask, request
from tests.providers.oracles.cases import REPLIES, Reading, our_reading, second_request
from tests.providers.oracles.conversations import EVERYTHING, conversations, stored
from tests.providers.oracles.schemas import Invoice
from tests.providers.oracles.shapes import misfits
from tests.providers.raw_server import HEAD, answering
from tests.providers.scripted_server.reading import answer_events
from tests.providers.test_supported_schema import SCHEMAS

PARAMS = {
    "tool choice": {"tool_choice": {"type": "function", "name": "f"}, "parallel_tool_calls": False},
    "a schema": {"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}}},
    "effort": {"reasoning": {"effort": "high", "summary": "auto"}, "text": {"verbosity": "low"}},
    "cache": {"prompt_cache_key": "session", "prompt_cache_retention": "24h"},
}


async def sdk_reading(url: str, body: dict[str, Any]) -> Reading:
    shown, response = "", None
    async with AsyncOpenAI(api_key="secret", base_url=f"{url}/v1", max_retries=0) as client:
        async for event in await client.responses.create(**body):
            if event.type == "response.output_text.delta":
                shown += event.delta
            if event.type in ("response.completed", "response.incomplete"):
                response = event.response
    assert response is not None
    assert response.usage is not None
    assert shown == response.output_text
    reasoning = [item for item in response.output if item.type == "reasoning"]
    calls = [item for item in response.output if item.type == "function_call"]
    usage, cached = response.usage, response.usage.input_tokens_details
    stop_reason = "tool_use" if calls else "end_turn"
    if response.incomplete_details:
        stop_reason = {"max_output_tokens": "max_tokens"}.get(
            response.incomplete_details.reason, "content_filter"
        )
    return Reading(
        response.output_text,
        "".join(part.text for item in reasoning for part in item.summary),
        [(call.call_id, call.name, json.loads(call.arguments)) for call in calls],
        Usage(
            usage.input_tokens - cached.cached_tokens - cached.cache_write_tokens,
            usage.output_tokens,
            cached.cached_tokens,
            cached.cache_write_tokens,
            usage.output_tokens_details.reasoning_tokens,
        ),
        response.model,
        stop_reason,
        [item.encrypted_content or "" for item in reasoning],
    )


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_the_sdk_reads_what_we_read(reply: Reply):
    asked = ModelRequest("m", "", EVERYTHING.messages[:1])
    async with ScriptedServer(Script((reply,))) as server:
        provider = ResponsesProvider.at("server", f"{server.url}/v1")
        ours = await our_reading(provider, asked)
        theirs = await sdk_reading(server.url, wire_body(asked, {}))
        await provider.aclose()

    assert ours == theirs
    assert ours.text or ours.calls


async def test_the_sdk_sends_what_we_send():
    async with ScriptedServer(Script((REPLIES["everything"], Reply("done")))) as server:
        provider = ResponsesProvider.at("server", f"{server.url}/v1", "secret")
        asked = await second_request(provider)
        await our_reading(provider, asked)
        await sdk_reading(server.url, wire_body(asked, {}))
        await provider.aclose()
    _, ours, theirs = server.requests

    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    for header in ("authorization", "content-type"):
        assert ours.headers[header] == theirs.headers[header]


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_a_request_fits_the_sdks_type(params: dict[str, Any]):
    assert misfits(ResponseCreateParamsStreaming, wire_body(EVERYTHING, params)) == []


@given(conversations())
@settings(max_examples=40)
def test_any_request_fits_the_sdks_type(asked: ModelRequest):
    assert misfits(ResponseCreateParamsStreaming, wire_body(asked, {})) == []


async def test_a_request_for_a_value_fits_the_sdks_types():
    asked = replace(EVERYTHING, messages=EVERYTHING.messages[:1], tools=(), params={})
    asked = replace(asked, output_schema=Invoice.model_json_schema())
    async with ScriptedServer(Script((Reply("{}"),))) as server:
        chat = OpenAIProvider.at("server", f"{server.url}/v1")
        await ask(chat, asked)
        await chat.aclose()
    (sent,) = server.requests
    body = wire_body(asked, {})

    assert misfits(CompletionCreateParamsStreaming, sent.body) == []
    assert misfits(ResponseCreateParamsStreaming, body) == []
    assert sent.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Invoice", "schema": to_strict_json_schema(Invoice), "strict": True},
    }
    assert body["text"]["format"] == {"type": "json_schema", **sent.body["response_format"]["json_schema"]}


@given(SCHEMAS)
def test_the_sdk_has_nothing_to_change_in_what_is_told(schema: dict[str, Any]):
    told = reduce_schema(
        {**schema, "$defs": {"d": {"type": "array", "items": {"type": "null"}}}}, OPENAI
    ).schema

    assert told is None or _ensure_strict_json_schema(deepcopy(told), path=(), root=deepcopy(told)) == told


def test_a_request_that_does_not_fit_is_noticed():
    body = wire_body(EVERYTHING, {"top_k": 1})
    body["input"][0]["content"][0]["kind"] = "x"

    assert len(misfits(ResponseCreateParamsStreaming, body)) == 2


@pytest.mark.parametrize(
    "reply", [*REPLIES.values(), Reply("a", fault=ErrorFault())], ids=[*REPLIES, "error"]
)
async def test_the_scripted_server_speaks_as_the_sdk_expects(reply: Reply):
    adapter: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
    body = wire_body(ModelRequest("m", "", EVERYTHING.messages[:1]), {})
    events = await answer_events(Script((reply,)), "/v1/responses", body)

    assert events
    for _, event in events:
        adapter.validate_python(event, strict=True)


async def test_what_goes_back_is_what_the_sdk_would_send_back():
    """Reasoning in two parts and in none, two messages, a refusal, and a tool that runs at OpenAI between."""
    items: list[dict[str, Any]] = [
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Hm."}, {"type": "summary_text", "text": "So."}],
            "encrypted_content": "one",
        },
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
        },
        {
            "id": "ws_1",
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": "x"},
        },
        {"id": "rs_2", "type": "reasoning", "summary": [], "encrypted_content": "two"},
        {
            "id": "msg_2",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [
                {"type": "output_text", "text": "No: ", "annotations": []},
                {"type": "refusal", "refusal": "I won't."},
            ],
        },
        {"id": "fc_1", "type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":1}'},
        {"id": "fc_2", "type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
    ]
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }
    events = [event for index, item in enumerate(items) for event in streamed(index, item)]
    events.append({"type": "response.completed", "sequence_number": 0, "response": response})
    stream = b"".join(encode_event(json.dumps(event).encode(), event["type"]) for event in events)

    async with answering(HEAD + stream) as raw:
        provider = ResponsesProvider.at("server", raw.url)
        ours = await ask(provider)
        async with AsyncOpenAI(api_key="secret", base_url=raw.url, max_retries=0) as client:
            told = await client.responses.create(model="m", input="hi", stream=True)
            theirs = [event.item async for event in told if event.type == "response.output_item.done"]
        await provider.aclose()
    assert ours.reply is not None
    sent = wire_body(request(stored(ours.reply)), {})["input"]

    assert sent == [
        item.model_dump(mode="json", exclude_none=True) for item in theirs if item.type != "web_search_call"
    ]
    assert misfits(ResponseCreateParamsStreaming, {"stream": True, "input": sent}) == []


def streamed(index: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    """Write the events of one item as OpenAI does, without those that only repeat it."""
    at = {"output_index": index, "item_id": item["id"], "sequence_number": 0}
    events: list[dict[str, Any]] = []
    for number, part in enumerate(item.get("summary", ())):
        place = at | {"summary_index": number}
        blank = {"type": "summary_text", "text": ""}
        events.append(place | {"type": "response.reasoning_summary_part.added", "part": blank})
        events.append(place | {"type": "response.reasoning_summary_text.delta", "delta": part["text"]})
    for number, part in enumerate(item.get("content", ())):
        place = at | {"content_index": number}
        events.append(place | {"type": "response.content_part.added", "part": part})
        kind = "output_text" if "text" in part else "refusal"
        text = part.get("text") or part["refusal"]
        events.append(place | {"type": f"response.{kind}.delta", "delta": text, "logprobs": []})
    if item["type"] == "function_call":
        place = at | {"type": "response.function_call_arguments.delta"}
        events += [place | {"delta": item["arguments"][:1]}, place | {"delta": item["arguments"][1:]}]
    added = at | {"type": "response.output_item.added", "item": item | {"content": [], "summary": []}}
    return [added, *events, at | {"type": "response.output_item.done", "item": item}]
