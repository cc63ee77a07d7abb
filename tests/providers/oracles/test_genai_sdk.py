"""The `google-genai` package as an oracle: it reads the same replies and sends the same requests."""

import asyncio
import base64
import json
import re
from typing import Any

import pytest
from google import genai
from google.genai import types
from hypothesis import given, settings
from msgspec.structs import replace
from pydantic import TypeAdapter, ValidationError

from bridle.core.messages import StopReason, Usage
from bridle.core.model import ModelRequest
from bridle.providers import Reply, Script
from bridle.providers.gemini import GeminiProvider, wire_body
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.conversation import ask, request
from tests.providers.oracles.cases import REPLIES, Reading, our_reading, second_request
from tests.providers.oracles.conversations import EVERYTHING, InTurns, conversations, stored
from tests.providers.oracles.schemas import Invoice
from tests.providers.raw_server import answering, sse
from tests.providers.scripted_server.reading import answer_events

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

STOP_REASONS: dict[str, StopReason] = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "content_filter",
}
PARAMS = {
    "tool choice": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}},
    "a schema": {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
    "a thinking budget": {"thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": True}},
    "a thinking level": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}},
    "sampling": {"temperature": 0.5, "top_k": 40, "topP": 0.9, "stopSequences": ["x"]},
    "safety": {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}]},
}
TYPES: dict[str, Any] = {
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "safetySettings": list[types.SafetySetting],
    "generationConfig": types.GenerateContentConfig,
}
ADAPTERS = {key: TypeAdapter(kind) for key, kind in TYPES.items()}


def client_at(url: str) -> genai.Client:
    return genai.Client(api_key="secret", http_options=types.HttpOptions(base_url=url))


def sdk_request(body: dict[str, Any]) -> dict[str, Any]:
    """Say a request in the SDK's own types, which refuse what they do not know."""
    read = {key: ADAPTERS[key].validate_json(json.dumps(value)) for key, value in body.items()}
    config: types.GenerateContentConfig = read.pop("generationConfig")
    for key, value in (
        ("system_instruction", read.get("systemInstruction")),
        ("tools", read.get("tools")),
        ("tool_config", read.get("toolConfig")),
        ("safety_settings", read.get("safetySettings")),
    ):
        setattr(config, key, value)
    return {"contents": read["contents"], "config": config}


def camel(value: Any) -> Any:
    """Spell keys as the API's documents do; the SDK spells nested ones its own way, which is taken too."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {re.sub(r"_(.)", lambda c: c[1].upper(), key): camel(item) for key, item in value.items()}


async def sdk_reading(url: str, asked: ModelRequest, params: dict[str, Any]) -> Reading:
    reading = Reading()
    client = client_at(url)
    stream = await client.aio.models.generate_content_stream(
        model=asked.model, **sdk_request(wire_body(asked, params))
    )
    async for chunk in stream:
        assert chunk.candidates
        (candidate,) = chunk.candidates
        assert candidate.content is not None
        for part in candidate.content.parts or ():
            if part.thought_signature:
                reading.seals.append(base64.b64encode(part.thought_signature).decode())
            if part.function_call:
                call = part.function_call
                reading.calls.append((call.id or "", call.name or "", call.args))
            elif part.thought:
                reading.reasoning += part.text or ""
            else:
                reading.text += part.text or ""
        used = chunk.usage_metadata
        assert used is not None
        cached, thoughts = used.cached_content_token_count or 0, used.thoughts_token_count or 0
        reading.usage = Usage(
            (used.prompt_token_count or 0) - cached,
            (used.candidates_token_count or 0) + thoughts,
            cached,
            0,
            thoughts,
        )
        reading.model = chunk.model_version or ""
        reading.stop_reason = STOP_REASONS[candidate.finish_reason.value] if candidate.finish_reason else ""
    await client.aio.aclose()
    client.close()
    if reading.calls and reading.stop_reason == "end_turn":
        reading.stop_reason = "tool_use"
    return reading


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_the_sdk_reads_what_we_read(reply: Reply):
    asked = ModelRequest("m", "", EVERYTHING.messages[:1])
    async with ScriptedServer(Script((reply,))) as server:
        provider = GeminiProvider.at("server", server.url)
        ours = await our_reading(provider, asked)
        theirs = await sdk_reading(server.url, asked, {})
        await provider.aclose()

    assert ours == theirs
    assert ours.text or ours.calls


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
async def test_the_sdk_sends_what_we_send(params: dict[str, Any]):
    async with ScriptedServer(Script((REPLIES["everything"], Reply("done")))) as server:
        provider = GeminiProvider.at("server", server.url, "secret", params=params)
        asked = await second_request(provider)
        await our_reading(provider, asked)
        await sdk_reading(server.url, asked, params)
        await provider.aclose()
    _, ours, theirs = server.requests

    assert (ours.path, ours.body) == (theirs.path, camel(theirs.body))
    for header in ("x-goog-api-key", "content-type"):
        assert ours.headers[header] == theirs.headers[header]


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_a_request_fits_the_sdks_types(params: dict[str, Any]):
    assert sdk_request(wire_body(EVERYTHING, params))


@given(conversations())
@settings(max_examples=40)
def test_any_request_fits_the_sdks_types(asked: ModelRequest):
    assert sdk_request(wire_body(asked, {}))


async def test_the_sdk_asks_for_a_value_as_we_do():
    asked = replace(EVERYTHING, messages=EVERYTHING.messages[:1], tools=(), params={})
    asked = replace(asked, output_schema=Invoice.model_json_schema())
    async with ScriptedServer(Script((Reply("{}"),))) as server:
        provider = GeminiProvider.at("server", server.url, "secret")
        await our_reading(provider, asked)
        await sdk_reading(server.url, asked, {})
        await provider.aclose()
    ours, theirs = (sent.body["generationConfig"] for sent in server.requests)

    assert ours == theirs
    assert ours["responseMimeType"] == "application/json"
    assert ours["responseJsonSchema"]["required"] == ["number", "day", "lines", "note", "paid", "first"]


def test_a_request_that_does_not_fit_is_noticed():
    body = wire_body(EVERYTHING, {})
    body["contents"][0]["parts"][0]["cached"] = True

    with pytest.raises(ValidationError, match="cached"):
        sdk_request(body)
    with pytest.raises(ValidationError, match="effort"):
        sdk_request(wire_body(EVERYTHING, {"effort": "high"}))


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_the_scripted_server_speaks_as_the_sdk_expects(reply: Reply):
    body = wire_body(ModelRequest("m", "", EVERYTHING.messages[:1]), {})
    events = await answer_events(Script((reply,)), "/v1/models/m:streamGenerateContent?alt=sse", body)

    assert events
    for _, event in events:
        types.GenerateContentResponse.model_validate_json(json.dumps(event))


async def test_what_goes_back_is_what_the_sdk_would_keep():
    chunks = [
        {"parts": [{"text": "hm", "thought": True}]},
        {"parts": [{"text": "so", "thought": True, "thoughtSignature": "b25l"}, {"text": "Hello"}]},
        {"parts": [{"text": "!", "thoughtSignature": "dHdv"}]},
        {"parts": [{"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}, "thoughtSignature": "MzMz"}]},
        {"parts": [{"functionCall": {"id": "b", "name": "g", "args": {}}}]},
        {"parts": [{"text": "", "thoughtSignature": "NDQ0"}]},
    ]
    payloads = [{"candidates": [{"content": {"role": "model", **chunk}}]} for chunk in chunks]
    payloads.append({"candidates": [{"finishReason": "STOP"}]})
    kept: list[types.Part] = []
    async with answering(sse(*(json.dumps(payload).encode() for payload in payloads))) as raw:
        provider, client = GeminiProvider.at("server", raw.url), client_at(raw.url)
        ours = await ask(provider)
        async for chunk in await client.aio.models.generate_content_stream(model="m", contents="hi"):
            kept += chunk.parts or ()
        await client.aio.aclose()
        client.close()
        await provider.aclose()
    assert ours.reply is not None
    sent = wire_body(request(stored(ours.reply)), {})["contents"][0]

    assert sent == types.Content(role="model", parts=kept).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )


async def test_a_long_answer_is_continued_as_the_sdk_does():
    def hop(text: str, tokens: int, **end: str) -> bytes:
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, **end}
        usage = {"promptTokenCount": 5, "candidatesTokenCount": tokens}
        return sse(json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode())

    answers = [
        hop("one ", 2, finishReason="CONTINUATION", continuationToken="b25l"),
        hop("two", 3, finishReason="STOP"),
    ]
    raw = InTurns(*answers, *answers)
    asked = request()
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        provider = GeminiProvider.at("server", url)
        ours = await our_reading(provider, asked)
        theirs = await sdk_reading(url, asked, {})
        await provider.aclose()
    tokens = [json.loads(sent.partition(b"\r\n\r\n")[2]).get("continuationToken") for sent in raw.requests]

    assert ours == theirs
    assert (ours.text, ours.usage) == ("one two", Usage(10, 5))
    assert tokens == [None, "b25l", None, "b25l"]
