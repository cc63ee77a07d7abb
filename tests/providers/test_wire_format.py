"""Common to all wires: alternating turns, and ids, arguments and files that vendors accept."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.core.model import ApiKind, Effort, ModelReply, ModelRequest
from bridle.core.protocol import Delta, TextDelta
from bridle.providers import HttpFault, Reply, Script
from bridle.providers.anthropic import AnthropicProvider
from bridle.providers.factory import open_remote
from bridle.providers.gemini import GeminiProvider
from bridle.providers.openai import OpenAIProvider
from bridle.providers.openai_responses import ResponsesProvider
from bridle.providers.provider_settings import ProviderEntry
from bridle.providers.scripted_server import ScriptedServer
from bridle.providers.supported_schema import ANTHROPIC, GEMINI, OPENAI, reduce_schema
from bridle.providers.wire_format import (
    EMPTY,
    Turn,
    add_api_version,
    count_at,
    decode_text,
    first_accepted,
    list_at,
    merge_turns,
    request_params,
    string_at,
    vendor_metadata,
    vendor_params,
    wire_args,
    wire_call_id,
    with_format,
)
from tests.providers.conversation import ask, request

A, B = ToolCall(CallId("a"), "f"), ToolCall(CallId("b"), "g")


def result(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, call.name, "done")


def anything(_: Part) -> bool:
    return True


def test_the_sides_alternate_and_results_follow_the_order_of_their_calls():
    messages = (
        user_message("one"),
        Message("system", (Text("two"),)),
        Message("assistant", (Text("three"),)),
        Message("assistant", (A, B)),
        Message("tool", (result(B),)),
        Message("tool", (result(A),)),
        user_message("four"),
        Message("tool", ()),
        Message("assistant", ()),
        user_message("five"),
    )

    assert merge_turns(messages, anything) == [
        Turn("user", [Text("one"), Text("two")]),
        Turn("assistant", [Text("three"), A, B]),
        Turn("user", [Text("four"), Text("five")], [result(A), result(B)]),
    ]


def test_what_cannot_be_sent_is_left_out_and_so_is_reasoning_at_the_end():
    said = Message("assistant", (Reasoning("a"), Text("b"), Media("x", ""), Reasoning("c"), Reasoning("d")))

    assert merge_turns([said], lambda part: not isinstance(part, Media)) == [
        Turn("assistant", [Reasoning("a"), Text("b")])
    ]


def test_an_empty_prompt_says_that_it_is_empty():
    assert merge_turns([user_message(" \n"), Message("user", (Media("x", ""),))], anything) == [
        Turn("user", [Text(EMPTY), Media("x", "")])
    ]


def test_a_result_without_its_call_comes_last():
    lost = ToolResult(CallId("z"), "h", "?")

    turns = merge_turns([Message("assistant", (A,)), Message("tool", (lost, result(A)))], anything)

    assert turns[1].results == [result(A), lost]


@pytest.mark.parametrize("taken", ["a", "call_0_0", "toolu_01-x", "x" * 64])
def test_ids_that_vendors_take_stay(taken: str):
    assert wire_call_id(taken) == taken


def test_other_ids_become_ones_of_their_own():
    strange = ["", "a b", "ü", "x" * 65, "a:1", "a:2", "a\n"]

    made = [wire_call_id(name) for name in strange]

    assert made == [wire_call_id(name) for name in strange]
    assert len(set(made)) == len(strange)
    assert all(wire_call_id(name) == name for name in made)


def test_broken_arguments_travel_in_whole_json():
    assert wire_args(ToolCall(CallId("a"), "f", {"x": 1})) == {"x": 1}
    assert wire_args(ToolCall(CallId("a"), "f", invalid="{")) == {"invalid_json": "{"}


@pytest.mark.parametrize(
    ("mime", "data", "text"),
    [
        ("text/plain", "R3LDvMOfZQ==", "Grüße"),
        ("text/x-c; charset=utf-8", "aGk=", "hi"),
        ("application/json", "aGk=", "hi"),
        ("image/svg+xml", "aGk=", "hi"),
        ("text/plain", "", ""),
        ("text/plain", "/w==", None),
        ("text/plain", "not base64", None),
        ("image/png", "aGk=", None),
    ],
)
def test_the_words_of_a_text_file(mime: str, data: str, text: str | None):
    assert decode_text(Media(mime, data)) == text


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://h", "https://h/v1"),
        ("https://h/", "https://h/v1"),
        ("https://h/v1/", "https://h/v1"),
        ("https://h/v1beta", "https://h/v1beta"),
        ("https://h/proxy", "https://h/proxy/v1"),
        ("https://v1", "https://v1/v1"),
    ],
)
def test_an_address_names_a_version(given: str, address: str):
    assert add_api_version(given, "v1") == address


def test_only_the_wire_itself_reads_its_seals():
    part = Text("a", {"anthropic": {"signature": "s"}, "gemini": "broken"})

    assert [vendor_metadata(part, wire) for wire in ("anthropic", "gemini", "openai")] == [
        {"signature": "s"},
        {},
        {},
    ]


def test_a_vendor_may_send_anything_at_any_place():
    value = {"a": {"b": "word", "c": 3, "d": [1], "e": None, "f": -1}}

    assert string_at(value, "a", "b") == "word"
    assert count_at(value, "a", "c") == 3
    assert list_at(value, "a", "d") == [1]
    assert [string_at(value, "a", key) for key in "cdexf"] == [""] * 5
    assert [count_at(value, "a", key) for key in "bdexf"] == [0] * 5
    assert [list_at(value, "a", key) for key in "bcex"] == [[]] * 4
    assert string_at([1], "a", "b") == ""


def test_the_last_word_on_a_parameter_wins_and_what_is_ours_is_not_sent():
    assert vendor_params({"top_k": 1, "seed": 2}, {"top_k": 3, "tool_role": False}) == {"top_k": 3, "seed": 2}


def test_tables_in_parameters_are_merged():
    own = {"provider": {"sort": "price", "only": ["a", "b"]}, "seed": 1, "thinking": {"type": "on"}}
    changed = {"provider": {"only": ["c"], "x": {"y": 1}}, "seed": {"z": 1}, "thinking": "off"}

    assert vendor_params(own, changed) == {
        "provider": {"sort": "price", "only": ["c"], "x": {"y": 1}},
        "seed": {"z": 1},
        "thinking": "off",
    }
    assert own["provider"] == {"sort": "price", "only": ["a", "b"]}


# ---------------------------------------------------------------------------- answers that fit a schema

AGE: dict[str, Any] = {
    "title": "Age",
    "type": "object",
    "properties": {"age": {"type": "integer"}},
    "required": ["age"],
    "additionalProperties": False,
}
OPENAI_FORMAT = {"name": "Age", "schema": AGE, "strict": True}
ASKED: dict[str, Any] = {"output_schema": AGE, "params": {"temperature": 0.0, "tool_choice": "auto"}}


def chat(url: str) -> OpenAIProvider:
    return OpenAIProvider.at("server", f"{url}/v1")


def messages(url: str) -> AnthropicProvider:
    return AnthropicProvider.at("server", url, params={"output_config": {"effort": "low"}})


def responses(url: str) -> ResponsesProvider:
    return ResponsesProvider.at("server", f"{url}/v1", params={"text": {"verbosity": "low"}})


def gemini(url: str) -> GeminiProvider:
    return GeminiProvider.at("server", url)


WIRES: dict[Callable[[str], Any], tuple[dict[str, Any], dict[str, Any]]] = {
    chat: (
        {
            "response_format": {"type": "json_schema", "json_schema": OPENAI_FORMAT},
            "temperature": 0.0,
        },
        {"temperature": 0.0},
    ),
    messages: (
        {"output_config": {"format": {"type": "json_schema", "schema": AGE}, "effort": "low"}},
        {"output_config": {"effort": "low"}},
    ),
    responses: (
        {"text": {"format": {"type": "json_schema", **OPENAI_FORMAT}, "verbosity": "low"}},
        {"text": {"verbosity": "low"}},
    ),
    gemini: (
        {
            "generationConfig": {
                "maxOutputTokens": 8192,
                "responseMimeType": "application/json",
                "responseJsonSchema": AGE,
            }
        },
        {"generationConfig": {"maxOutputTokens": 8192}},
    ),
}
SAID_OF_THE_ANSWER = {
    "response_format",
    "temperature",
    "output_config",
    "text",
    "generationConfig",
    "tool_choice",
}


def said_of_the_answer(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key in SAID_OF_THE_ANSWER}


@pytest.mark.parametrize("connect", WIRES, ids=lambda connect: connect.__name__)
async def test_an_answer_is_held_to_a_schema(connect: Callable[[str], Any]):
    async with ScriptedServer(Script((Reply('{"age": 3}'),))) as server:
        provider = connect(server.url)
        outcome = await ask(provider, request(**ASKED))
        await provider.aclose()

    assert outcome.shown == [("text", '{"age": 3}')]
    assert [said_of_the_answer(sent.body) for sent in server.requests] == [WIRES[connect][0]]


@pytest.mark.parametrize("connect", WIRES, ids=lambda connect: connect.__name__)
async def test_without_a_schema_nothing_is_said_of_one(connect: Callable[[str], Any]):
    async with ScriptedServer(Script((Reply("hi"),))) as server:
        provider = connect(server.url)
        await ask(provider, request(params={"tool_choice": "auto"}))
        await provider.aclose()
    plain = {key: value for key, value in WIRES[connect][1].items() if key != "temperature"}

    (sent,) = server.requests
    choice = {} if connect is gemini else {"tool_choice": "auto"}
    assert said_of_the_answer(sent.body) | choice == plain | choice | (
        {"generationConfig": {"maxOutputTokens": 8192, "toolChoice": "auto"}} if connect is gemini else {}
    )


@pytest.mark.parametrize("connect", WIRES, ids=lambda connect: connect.__name__)
async def test_where_the_schema_is_refused_it_is_left_out(connect: Callable[[str], Any]):
    refusal = HttpFault(status=400, message="response_format is not supported", times=1)
    async with ScriptedServer(Script((Reply('{"age": 3}', fault=refusal),))) as server:
        provider = connect(server.url)
        outcome = await ask(provider, request(**ASKED))
        await provider.aclose()

    assert outcome.shown == [("text", '{"age": 3}')]
    assert [said_of_the_answer(sent.body) for sent in server.requests] == list(WIRES[connect])


@pytest.mark.parametrize("connect", WIRES, ids=lambda connect: connect.__name__)
@pytest.mark.parametrize(
    ("status", "kind", "requests"), [(400, "invalid_request", 2), (503, "server_overloaded", 1)]
)
async def test_any_other_failure_stays_one(
    connect: Callable[[str], Any], status: int, kind: ProviderErrorKind, requests: int
):
    async with ScriptedServer(Script((Reply("x", fault=HttpFault(status=status)),))) as server:
        provider = connect(server.url)
        outcome = await ask(provider, request(**ASKED))
        await provider.aclose()

    assert outcome.error == kind
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("connect", "dialect"), [(chat, OPENAI), (messages, ANTHROPIC), (responses, OPENAI), (gemini, GEMINI)]
)
def test_a_provider_says_what_its_vendor_cannot_enforce(connect: Callable[[str], Any], dialect: Any):
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}, "required": ["a"]}

    told = connect("http://127.0.0.1:9").unenforced(schema)

    assert told == reduce_schema(schema, dialect).said_of("server")
    assert told == ("server cannot enforce #/properties/a/minLength; it is only checked afterwards",)


@pytest.mark.parametrize(("model", "takes"), [("gemini-2.5-pro", True), ("gemini-3-pro", False)])
async def test_newer_geminis_keep_their_temperature(model: str, *, takes: bool):
    async with ScriptedServer(Script((Reply("{}"),))) as server:
        provider = gemini(server.url)
        await ask(provider, request(model=model, **ASKED))
        await provider.aclose()

    (sent,) = server.requests
    assert ("temperature" in sent.body["generationConfig"]) == takes


def test_a_request_for_a_value_has_nothing_to_say_about_tools():
    own = {"tool_choice": "auto", "parallel_tool_calls": False, "top_p": 0.5}
    asked = request(params={"temperature": 0.0, "tool_role": False, "toolConfig": {}})

    assert request_params(asked, own) == {**own, "temperature": 0.0, "toolConfig": {}}
    for_value = request(params=asked.params, output_schema=AGE)
    assert request_params(for_value, own) == {"top_p": 0.5, "temperature": 0.0}
    assert request_params(for_value, own, takes_temperature=False) == {"top_p": 0.5}


def test_what_a_user_sets_beside_a_format_stays_and_has_the_last_word():
    assert with_format({"a": 1}, "text", {"type": "x"}) == {"a": 1, "text": {"format": {"type": "x"}}}
    assert with_format({"text": {"verbosity": "low"}}, "text", {"type": "x"}) == {
        "text": {"format": {"type": "x"}, "verbosity": "low"}
    }
    assert with_format({"text": {"format": "own"}}, "text", {}) == {"text": {"format": "own"}}


# ---------------------------------------------------------------------------- the first that is taken


async def says(
    *texts: str, then: ProviderErrorKind | None = None
) -> AsyncGenerator[Delta | ModelReply, None]:
    for text in texts:
        yield TextDelta(text)
    if then:
        raise ProviderError("no", kind=then)


async def heard(*answers: AsyncGenerator[Delta | ModelReply, None]) -> list[Any]:
    return [item async for item in first_accepted(answers)]


async def test_a_single_answer_is_passed_on_as_it_is():
    answer = says("a")

    assert first_accepted([answer]) is answer
    assert await heard(answer) == [TextDelta("a")]


async def test_an_answer_follows_one_that_was_refused_before_it_began():
    assert await heard(says(then="invalid_request"), says("b")) == [TextDelta("b")]
    assert await heard(says("a"), says("b")) == [TextDelta("a")]


@pytest.mark.parametrize(
    "answers",
    [
        (says("a", then="invalid_request"), says("b")),
        (says(then="rate_limited"), says("b")),
        (says(then="invalid_request"), says(then="invalid_request")),
    ],
)
async def test_any_other_failure_is_raised(answers: tuple[AsyncGenerator[Delta | ModelReply, None], ...]):
    with pytest.raises(ProviderError):
        await heard(*answers)


# ---------------------------------------------------------------------------- effort


@pytest.mark.parametrize(
    ("kind", "model", "effort", "sent"),
    [
        ("openai", "m", "high", {"reasoning_effort": "high"}),
        ("openai-responses", "m", "none", {"reasoning": {"effort": "none", "summary": "auto"}}),
        (
            "anthropic",
            "claude-opus-5-5",
            "minimal",
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "low"},
            },
        ),
        ("anthropic", "claude-opus-4-5", "high", {"thinking": {"type": "enabled", "budget_tokens": 7168}}),
        ("anthropic", "claude-opus-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ("anthropic", "claude-fable-5", "none", {"thinking": {"type": "disabled"}}),
        ("anthropic", "other", "minimal", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
    ],
)
async def test_effort_is_told_in_the_words_of_the_vendor(
    kind: ApiKind, model: str, effort: Effort, sent: dict[str, Any]
):
    assert sent.items() <= (await body_sent(kind, model, effort)).items()
    plain = await body_sent(kind, model, None)
    assert plain.keys().isdisjoint(sent)


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gemini-2.5-pro", "low", {"thinkingBudget": 1024, "includeThoughts": True}),
        ("gemini-3.5-flash", "max", {"thinkingLevel": "high", "includeThoughts": True}),
        ("gemini-3.5-flash", "none", {"thinkingLevel": "minimal", "includeThoughts": False}),
    ],
)
async def test_effort_of_gemini(model: str, effort: Effort, sent: dict[str, Any]):
    assert (await body_sent("gemini", model, effort))["generationConfig"]["thinkingConfig"] == sent


async def test_the_effort_of_a_run_overrides_what_is_configured():
    body = await body_sent("openai", "m", "low", params={"reasoning_effort": "high", "seed": 1})

    assert (body["reasoning_effort"], body["seed"]) == ("low", 1)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("openai", ("messages", 0, "content")),
        ("openai-responses", ("instructions",)),
        ("anthropic", ("system", 0, "text")),
        ("gemini", ("systemInstruction", "parts", 0, "text")),
    ],
)
async def test_the_prefix_of_a_provider_is_before_the_instructions(kind: ApiKind, place: tuple[Any, ...]):
    for system, expected in (("Be kind.", "I am Bridle.\n\nBe kind."), ("", "I am Bridle.")):
        body: Any = await body_sent(kind, "m", None, system=system, system_prefix="I am Bridle.")
        for key in place:
            body = body[key]
        assert body == expected


async def body_sent(
    kind: ApiKind, model: str, effort: Effort | None, *, system: str = "", **entry: Any
) -> dict[str, Any]:
    """Return the body of a request as a server gets it."""
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        provider = open_remote("v", kind, ProviderEntry(base_url=f"{server.url}/v1", **entry), "")
        request = ModelRequest(model, system, (user_message("hi"),), effort=effort)
        async with aclosing(provider.stream(request)) as stream:
            assert [item async for item in stream]
        await provider.aclose()
        return server.requests[-1].body
