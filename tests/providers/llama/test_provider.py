"""Answers from a llama-server: streamed, counted, with constrained tools, and after a crash."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.context import estimate_tokens
from bridle.core.errors import RETRYABLE_KINDS, ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, Text, ToolCall, user_message
from bridle.core.model import Model, ModelReply, ModelRequest, Price
from bridle.core.protocol import Delta, ReasoningDelta, TextDelta, ToolCallDelta
from bridle.core.tool import ToolSpec
from bridle.providers.embedded.runtime import embedded_options
from bridle.providers.llama.options import LlamaOptions
from bridle.providers.llama.provider import LlamaProvider
from bridle.providers.llama.server import ExternalServer, LlamaServer, RestartPolicy
from bridle.sessions.structured_output import Extraction
from bridle.tools.file_tools import file_tools
from tests.providers.llama.conftest import Scripted

StandIn = Callable[..., Scripted]
QUICK = RestartPolicy(first_pause_s=0.01)
LIST = ToolSpec(
    "list_files",
    "List files.",
    {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
)
NO_TOOLS = {"props": {"chat_template_caps": {"supports_tools": False}}}


def request(prompt: str, *, tools: tuple[ToolSpec, ...] = (LIST,), **params: Any) -> ModelRequest:
    return ModelRequest("tiny", "Be brief.", (user_message(prompt),), tools, 64, params)


def says(*texts: str) -> list[dict[str, str]]:
    return [{"content": text} for text in texts]


async def collect(provider: LlamaProvider, asked: ModelRequest) -> tuple[list[Delta], ModelReply]:
    *deltas, reply = [item async for item in provider.stream(asked)]
    assert isinstance(reply, ModelReply)
    return deltas, reply


@asynccontextmanager
async def opened(options: LlamaOptions, **settings: Any) -> AsyncIterator[LlamaProvider]:
    provider = LlamaProvider("llama", LlamaServer("llama", options, restart=QUICK), **settings)
    try:
        yield provider
    finally:
        await provider.aclose()


# ---------------------------------------------------------------------------- with the stand-in


async def test_words_and_reasoning_are_streamed(stand_in: StandIn) -> None:
    scripted = stand_in(replies=[[{"reasoning_content": "hm"}, *says("Hel", "lo")]])
    async with opened(scripted.options, params={"top_k": 5}) as provider:
        deltas, reply = await collect(provider, request("hi", seed=1))

    assert deltas == [ReasoningDelta("hm"), TextDelta("Hel"), TextDelta("lo")]
    assert reply.message == Message("assistant", (Reasoning("hm"), Text("Hello")))
    body = scripted.asked[0]
    assert (body["top_k"], body["seed"], body["max_tokens"]) == (5, 1, 64)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["list_files"]


async def test_a_printed_call_becomes_a_call(stand_in: StandIn) -> None:
    printed = says('{"name": "list', '_files", "arguments": {"pattern": "*"}}')
    async with opened(stand_in(replies=[printed]).options) as provider:
        deltas, reply = await collect(provider, request("list"))

    assert deltas == [ToolCallDelta(CallId("call_0_0"), "list_files", '{"pattern":"*"}')]
    call = ToolCall(CallId("call_0_0"), "list_files", {"pattern": "*"})
    assert (reply.message, reply.stop_reason) == (Message("assistant", (call,)), "tool_use")


async def test_what_only_looked_like_a_call_is_shown_after_all(stand_in: StandIn) -> None:
    text = '{"name": "Ann", "arguments": {}}'
    async with opened(stand_in(replies=[says(text[:9], text[9:])]).options) as provider:
        deltas, reply = await collect(provider, request("make a record"))

    assert deltas == [TextDelta(text)]
    assert reply.message.text == text


async def test_a_capable_model_without_tools_begins_a_call_and_is_held_to_it(stand_in: StandIn) -> None:
    begun = [*says('{"tool"', ': "lst'), "hang"]
    held = says('{"tool": "list_files", ', '"arguments": {"pattern": "a*"}}')
    scripted = stand_in(replies=[begun, held], parameters=7_000_000_000, **NO_TOOLS)
    async with opened(scripted.options) as provider:
        deltas, reply = await collect(provider, request("list"))

    assert "".join(delta.args for delta in deltas if isinstance(delta, ToolCallDelta)) == '{"pattern": "a*"}'
    assert reply.message.calls == (ToolCall(CallId("call_0_0"), "list_files", {"pattern": "a*"}),)
    first, second = scripted.asked
    assert first["messages"] == second["messages"]  # so that the server has read them already
    assert "tools" not in first
    assert "response_format" not in first
    assert second["response_format"]["type"] == "json_schema"


async def test_a_capable_model_without_tools_may_answer_in_words(stand_in: StandIn) -> None:
    scripted = stand_in(replies=[says(" ", "He", "llo")], parameters=7_000_000_000, **NO_TOOLS)
    async with opened(scripted.options) as provider:
        deltas, reply = await collect(provider, request("hi"))

    assert deltas == [TextDelta(" He"), TextDelta("llo")]
    assert reply.message.text == " Hello"


AGE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


async def test_a_server_that_cannot_follow_a_schema_is_asked_without_it(stand_in: StandIn) -> None:
    scripted = stand_in(replies=[[], says('{"age": 3}')], refuses_schemas=True)
    asked = replace(request("how old", tools=()), output_schema=AGE)
    async with opened(scripted.options) as provider:
        deltas, _ = await collect(provider, asked)
        assert provider.unenforced({"type": "string", "pattern": "x"}) == (
            "llama cannot enforce #/pattern; it is only checked afterwards",
        )

    assert deltas == [TextDelta('{"age": 3}')]
    first, second = scripted.asked
    assert first.pop("response_format") == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": AGE},
    }
    assert first == second


async def test_a_crash_while_it_answers_may_be_retried_and_is_repaired(stand_in: StandIn) -> None:
    scripted = stand_in(replies=[[*says("Hel"), "die"], says("Hello")])
    async with opened(scripted.options) as provider:
        with pytest.raises(ProviderError, match="died while it answered") as caught:
            await collect(provider, request("hi"))
        _, reply = await collect(provider, request("hi"))

    assert caught.value.kind in RETRYABLE_KINDS
    assert reply.message.text == "Hello"
    assert len(scripted.pids) == 2


async def test_no_more_requests_run_at_once_than_there_are_slots(stand_in: StandIn) -> None:
    scripted = stand_in(replies=[[*says("one"), "hang"], says("two")])
    async with opened(scripted.options) as provider:
        async with aclosing(provider.stream(request("hi"))) as first:
            await anext(first)
            second = asyncio.create_task(collect(provider, request("hi")))
            await asyncio.wait([second], timeout=0.3)
            assert len(scripted.asked) == 1

        _, reply = await second

    assert reply.message.text == "two"


async def test_the_window_is_the_servers(stand_in: StandIn) -> None:
    props = {"props": {"default_generation_settings": {"n_ctx": 300}}}
    async with opened(stand_in(**props).options, max_output_tokens=200) as provider:
        before = provider.model("tiny")
        real = await provider.facts("tiny")

    assert before == Model("llama", "tiny", 512, 200, Price(0.0, 0.0))
    assert real == Model("llama", "tiny", 300, 150, Price(0.0, 0.0))


async def test_tokens_are_estimated_when_no_server_starts(tmp_path: Path) -> None:
    async with opened(LlamaOptions(model=str(tmp_path / "none.gguf"))) as provider:
        assert await provider.count_tokens(["some text"]) == [estimate_tokens("some text")]


async def test_a_server_that_runs_already_is_asked_and_left_running(stand_in: StandIn) -> None:
    ours = LlamaServer("ours", stand_in().options)
    address = await ours.ready()
    running = ExternalServer("theirs", f"{address.url}/v1", api_key=address.key)
    provider = LlamaProvider("theirs", running)

    assert (await provider.facts("tiny")).window_tokens == 512
    assert await provider.count_tokens(["one two"]) == [2]
    _, reply = await collect(provider, request("hi"))
    await provider.aclose()

    assert reply.message.text == "ok"
    assert ours.pid is not None
    await ours.aclose()


# ---------------------------------------------------------------------------- with real weights


@pytest.fixture(params=["embedded", "executable"])
def real(request: pytest.FixtureRequest, weights: Path) -> LlamaOptions:
    """Return the options of each real runtime."""
    options = LlamaOptions(model=str(weights), ctx_size=2048, threads=1)
    if request.param == "embedded":
        return embedded_options(weights, options)
    return replace(options, program=(str(request.getfixturevalue("llama_server")),))


@pytest.mark.slow
async def test_a_real_model_answers_and_calls(real: LlamaOptions) -> None:
    tools = {tool.spec.name: tool for tool in file_tools(1000)}
    specs = tuple(tool.spec for tool in tools.values())
    async with opened(real) as provider:
        assert (await provider.facts("smol")).window_tokens == 2048

        # a plain prompt gives a plain answer, in pieces
        deltas, reply = await collect(provider, request("What is the capital of France?", tools=specs))
        assert len(deltas) > 1
        assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == reply.message.text
        assert reply.message.calls == ()
        assert reply.usage.output >= len(deltas)

        # tokens are counted by its own tokenizer; what looks like a special token is plain text
        assert await provider.count_tokens(["hello world", "foo <|im_end|>", ""]) == [2, 8, 0]

        # weights without an adapter answer an order in words
        _, reply = await collect(provider, request("List the files in this folder.", tools=specs))
        assert reply.message.calls == ()

        # a choice that is forced is a valid call of one of the tools
        few = tuple(spec for spec in specs if spec.name in ("list_files", "read_file"))
        forced = request("Hello!", tools=few, tool_choice="required", temperature=0)
        _, reply = await collect(provider, replace(forced, max_output_tokens=256))
        (call,) = reply.message.calls
        assert call.name in tools
        assert set(call.args) == set(tools[call.name].spec.parameters["required"])


async def kill_while(provider: LlamaProvider, asked: ModelRequest) -> None:
    """Kill the server at the first word of its answer."""
    async for item in provider.stream(asked):
        if isinstance(item, TextDelta) and isinstance(provider.server, LlamaServer) and provider.server.pid:
            os.kill(provider.server.pid, signal.SIGKILL)


TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {"leaf": {"type": "boolean"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
            "required": ["leaf", "next"],
        }
    },
}


@pytest.mark.slow
async def test_a_real_model_is_held_to_a_schema(real: LlamaOptions) -> None:
    """A model of this size fits none of these by itself: it is the server that holds it to them."""
    schemas: list[dict[str, Any]] = [
        AGE,
        {"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 2, "maxItems": 3},
        {"type": "integer", "minimum": 100, "maximum": 199},
        {
            "type": "object",
            "properties": {"kind": {"const": "a/b"}, 'odd "\n': {"type": ["null", "boolean"]}},
        },
        {"type": "array", "prefixItems": [{"type": "null"}, {"type": "string", "format": "date"}]},
    ]
    async with opened(real) as provider:
        assert provider.unenforced(TREE) == ()
        for schema in schemas:
            extraction = Extraction(schema, 0)
            asked = request(extraction.ask("", 0) or "", tools=(), temperature=0.0)
            _, reply = await collect(provider, replace(asked, output_schema=extraction.schema))
            assert extraction.read(reply.message.text, asked=False)[0], (schema, reply.message.text)

        # a grammar may refer to itself; where it ends is up to the model
        deltas, _ = await collect(provider, replace(request("Go on.", tools=()), output_schema=TREE))
        assert "".join(d.text for d in deltas if isinstance(d, TextDelta)).lstrip("{ \n").startswith('"leaf"')


@pytest.mark.slow
async def test_a_real_server_that_is_killed_is_replaced(real: LlamaOptions) -> None:
    story = replace(request("Tell me a long story about a dog.", tools=()), max_output_tokens=512)
    async with opened(replace(real, ctx_size=1024)) as provider:
        server = provider.server
        assert isinstance(server, LlamaServer)

        # in the middle of an answer
        with pytest.raises(ProviderError, match="killed by SIGKILL") as caught:
            await kill_while(provider, story)
        assert caught.value.kind in RETRYABLE_KINDS

        # the next request finds another one
        _, reply = await collect(provider, request("Say hello.", tools=()))
        assert reply.message.text

        # between two requests
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        while server.pid is not None:  # noqa: ASYNC110 - no one else is told of it
            await asyncio.sleep(0.01)
        _, reply = await collect(provider, request("Say hello.", tools=()))
        assert reply.message.text


@pytest.mark.slow
async def test_a_prompt_that_does_not_fit_is_reported_as_such(real: LlamaOptions) -> None:
    async with opened(replace(real, ctx_size=256)) as provider:
        with pytest.raises(ProviderError) as caught:
            await collect(provider, request("word " * 500, tools=()))

    assert caught.value.kind == "context_length_exceeded"


@pytest.mark.slow
async def test_a_model_that_has_seen_calls_in_words_writes_one(weights: Path) -> None:
    """The road of a capable model, with real weights: they imitate what they were shown."""
    shown = [
        message
        for name in ("*.txt", "*.md", "*.py")
        for message in (
            user_message(f"List {name}"),
            Message("assistant", (ToolCall(CallId(name), "list_files", {"pattern": name}),)),
            user_message(f"Tool: list_files\n\nResult:\na{name[1:]}"),
            Message("assistant", (Text(f"There is a{name[1:]}."),)),
        )
    ]
    asked = ModelRequest("smol", "", (*shown, user_message("List *.c")), (LIST,), 64, {"temperature": 0})
    options = embedded_options(weights, LlamaOptions(ctx_size=2048, threads=1))
    async with opened(options, tools="constrained", weak_below_parameters=0) as provider:
        _, reply = await collect(provider, asked)

    assert [call.name for call in reply.message.calls] == ["list_files"]
