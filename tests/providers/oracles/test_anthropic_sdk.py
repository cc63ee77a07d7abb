"""The `anthropic` package as an oracle: it reads the same replies and sends the same requests."""

from typing import Any

import msgspec
import pytest
from anthropic import AsyncAnthropic
from anthropic.lib._parse._transform import transform_schema
from anthropic.types import RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import given, settings
from msgspec.structs import replace
from pydantic import TypeAdapter

from bridle.core.messages import StopReason, Usage
from bridle.core.model import ModelRequest
from bridle.providers import Reply, Script
from bridle.providers.anthropic import AnthropicProvider, wire_body
from bridle.providers.scripted_server import ScriptedServer
from bridle.providers.sse import encode_event
from bridle.providers.supported_schema import ANTHROPIC, reduce_schema
from tests.providers.conversation import ask, request
from tests.providers.oracles.cases import REPLIES, Reading, our_reading, second_request
from tests.providers.oracles.conversations import EVERYTHING, conversations, stored
from tests.providers.oracles.schemas import Invoice
from tests.providers.oracles.shapes import misfits
from tests.providers.raw_server import HEAD, answering
from tests.providers.scripted_server.reading import answer_events
from tests.providers.test_supported_schema import SCHEMAS

STOP_REASONS: dict[str | None, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "content_filter",
}
PARAMS = {
    "tool choice": {"tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True}},
    "a schema": {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
    "effort": {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive"}},
    "a thinking budget": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
    "cache": {"cache_control": {"type": "ephemeral", "ttl": "1h"}},
    "no cache": {"cache_control": None},
}


async def sdk_reading(url: str, body: dict[str, Any]) -> Reading:
    client = AsyncAnthropic(api_key="secret", base_url=url, max_retries=0)
    async with client, client.messages.stream(**{k: v for k, v in body.items() if k != "stream"}) as stream:
        text = "".join([piece async for piece in stream.text_stream])
        message = await stream.get_final_message()
    blocks, usage = message.content, message.usage
    thoughts = [block for block in blocks if block.type == "thinking"]
    assert text == "".join(block.text for block in blocks if block.type == "text")
    assert usage.output_tokens_details is not None
    return Reading(
        text,
        "".join(block.thinking for block in thoughts),
        [(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"],
        Usage(
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens or 0,
            usage.cache_creation_input_tokens or 0,
            usage.output_tokens_details.thinking_tokens,
        ),
        message.model,
        STOP_REASONS[message.stop_reason],
        [block.signature for block in thoughts],
    )


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_the_sdk_reads_what_we_read(reply: Reply):
    asked = ModelRequest("m", "", EVERYTHING.messages[:1])
    async with ScriptedServer(Script((reply,))) as server:
        provider = AnthropicProvider.at("server", server.url)
        ours = await our_reading(provider, asked)
        theirs = await sdk_reading(server.url, wire_body(asked, {}))
        await provider.aclose()

    assert ours == theirs
    assert ours.text or ours.calls


async def test_the_sdk_sends_what_we_send():
    async with ScriptedServer(Script((REPLIES["everything"], Reply("done")))) as server:
        provider = AnthropicProvider.at("server", server.url, "secret")
        asked = await second_request(provider)
        await our_reading(provider, asked)
        client = AsyncAnthropic(api_key="secret", base_url=server.url, max_retries=0)
        async with client, await client.messages.create(**wire_body(asked, {})) as stream:
            assert [event.type async for event in stream][-1] == "message_stop"
        await provider.aclose()
    _, ours, theirs = server.requests

    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    for header in ("authorization", "anthropic-version", "content-type"):
        assert ours.headers[header] == theirs.headers[header]


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_a_request_fits_the_sdks_type(params: dict[str, Any]):
    assert misfits(MessageCreateParamsStreaming, wire_body(EVERYTHING, params)) == []


@given(conversations())
@settings(max_examples=40)
def test_any_request_fits_the_sdks_type(asked: ModelRequest):
    assert misfits(MessageCreateParamsStreaming, wire_body(asked, {})) == []


def test_a_request_for_a_value_fits_the_sdks_type():
    body = wire_body(replace(EVERYTHING, tools=(), output_schema=Invoice.model_json_schema()), {})

    assert misfits(MessageCreateParamsStreaming, body) == []
    assert "format" in body["output_config"]


def test_a_schema_is_told_as_the_sdk_tells_it():
    schema = Invoice.model_json_schema()

    assert reduce_schema(schema, ANTHROPIC).schema == transform_schema(schema)


@given(SCHEMAS)
def test_the_sdk_has_nothing_to_change_in_what_is_told(schema: dict[str, Any]):
    told = reduce_schema(
        {**schema, "$defs": {"d": {"type": "array", "items": {"type": "null"}}}}, ANTHROPIC
    ).schema

    assert told is None or transform_schema(told) == told


def test_a_request_that_does_not_fit_is_noticed():
    body = wire_body(EVERYTHING, {"temperature": 1})
    body["messages"][0]["content"][0]["cached"] = True
    body["tools"][0]["name"] = None

    assert len(misfits(MessageCreateParamsStreaming, body)) == 3


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_the_scripted_server_speaks_as_the_sdk_expects(reply: Reply):
    adapter: TypeAdapter[RawMessageStreamEvent] = TypeAdapter(RawMessageStreamEvent)
    body = wire_body(ModelRequest("m", "", EVERYTHING.messages[:1]), {})
    events = await answer_events(Script((reply,)), "/v1/messages", body)

    assert events
    for name, event in events:
        if name != "ping":
            adapter.validate_python(event, strict=True)


async def test_what_goes_back_is_what_the_sdk_would_send_back():
    """Thinking of every kind, two texts in a row, and blocks of tools that run at Anthropic in between."""
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": "Let me "},
                {"type": "thinking_delta", "thinking": "see."},
                {"type": "signature_delta", "signature": "one"},
            ],
        ),
        ({"type": "redacted_thinking", "data": "sealed"}, []),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "One"}]),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Two"}]),
        (
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"query":"x"}'}],
        ),
        ({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, []),
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [{"type": "signature_delta", "signature": "two"}],
        ),
        (
            {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            [
                {"type": "input_json_delta", "partial_json": ""},
                {"type": "input_json_delta", "partial_json": '{"x": '},
                {"type": "input_json_delta", "partial_json": "[1]}"},
            ],
        ),
        ({"type": "tool_use", "id": "b", "name": "g", "input": {}}, []),
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage})
    events.append({"type": "message_stop"})
    stream = b"".join(encode_event(msgspec.json.encode(event), event["type"]) for event in events)

    async with answering(HEAD + stream) as raw:
        provider = AnthropicProvider.at("server", raw.url)
        ours = await ask(provider)
        client = AsyncAnthropic(api_key="secret", base_url=raw.url, max_retries=0)
        async with (
            client,
            client.messages.stream(
                model="m", max_tokens=1, messages=[{"role": "user", "content": "hi"}]
            ) as told,
        ):
            theirs = (await told.get_final_message()).content
        await provider.aclose()
    assert ours.reply is not None
    sent = wire_body(request(stored(ours.reply)), {"cache_control": None})["messages"][0]["content"]

    assert sent == [
        block.model_dump(mode="json", exclude_none=True)
        for block in theirs
        if block.type not in ("server_tool_use", "web_search_tool_result")
    ]
    assert len(sent) == 7
