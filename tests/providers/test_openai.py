"""Chat Completions: requests, and the replies of many compatible servers."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.model import ModelReply, ModelRequest, Price
from bridle.core.tool import ToolSpec
from bridle.providers.http import Endpoint
from bridle.providers.openai import OpenAIProvider, _Reader
from bridle.providers.vendors import VENDORS, Quirks
from tests.providers.conversation import ask, request
from tests.providers.raw_server import answering, sse

PICTURE = Media("image/png", "aGk=")
FINISHED = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


async def sent_body(asked: ModelRequest, **options: object) -> dict[str, object]:
    async with answering(sse(msgspec.json.encode(FINISHED))) as raw:
        provider = OpenAIProvider.at("server", raw.url, **options)
        await ask(provider, asked)
        await provider.aclose()
    return msgspec.json.decode(raw.requests[0].partition(b"\r\n\r\n")[2])


def read(*events: object, ends: bytes = b"[DONE]", quirks: Quirks = Quirks()) -> ModelReply:  # noqa: B008
    reader = _Reader(Endpoint("server", "http://h"), request(), quirks)
    for event in [*map(msgspec.json.encode, events), ends]:
        reader.read(event)
    return reader.reply()


def pieces(*calls: dict[str, object]) -> dict[str, object]:
    return {"choices": [{"delta": {"tool_calls": list(calls)}}]}


# ---------------------------------------------------------------------------- request


async def test_a_plain_request():
    assert await sent_body(request(max_output_tokens=100)) == snapshot(
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 100,
        }
    )


async def test_a_conversation_with_everything_in_it():
    asked = request(
        Message(
            "user", (Text("look at "), PICTURE, Media("audio/wav", "aGk="), Media("text/x", "aGk=", "a.x"))
        ),
        Message(
            "assistant",
            (
                Reasoning("hm"),
                Text("I call "),
                Text("two"),
                ToolCall(CallId("a"), "f", {"x": "ü"}),
                ToolCall(CallId("b"), "g", invalid='{"bro'),
            ),
        ),
        Message(
            "tool",
            (ToolResult(CallId("a"), "f", "one", media=(PICTURE,)), ToolResult(CallId("b"), "g", "two")),
        ),
        Message("assistant", (Reasoning("nothing to say"),)),
        Message("system", (Text("be quick"),)),
        user_message("go on"),
        tools=(ToolSpec("f", "Does f.", {"type": "object"}),),
    )

    assert (await sent_body(asked))["messages"] == snapshot(
        [
            {"role": "system", "content": "Be terse."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look at "},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                    {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
                    {"type": "file", "file": {"filename": "a.x", "file_data": "data:text/x;base64,aGk="}},
                ],
            },
            {
                "role": "assistant",
                "content": "I call two",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":"ü"}'}},
                    {
                        "id": "b",
                        "type": "function",
                        "function": {"name": "g", "arguments": '{"invalid_json":"{\\"bro"}'},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "b", "content": "two"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "From f:"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ],
            },
            {"role": "system", "content": "be quick"},
            {"role": "user", "content": "go on"},
        ]
    )


async def test_parameters_are_added_and_the_request_has_the_last_word():
    asked = request(
        params={"temperature": 0, "seed": 1}, tools=(ToolSpec("f", "Does f.", {"type": "object"}),)
    )

    body = await sent_body(asked, params={"temperature": 1, "top_p": 0.5})

    assert {key: body[key] for key in ("temperature", "seed", "top_p")} == {
        "temperature": 0,
        "seed": 1,
        "top_p": 0.5,
    }
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "f", "description": "Does f.", "parameters": {"type": "object"}},
        }
    ]


def test_the_token_limit_has_the_name_the_server_knows():
    body = OpenAIProvider.at("openai", "https://api.openai.com/v1")._body(request(max_output_tokens=5), {})

    assert body["max_completion_tokens"] == 5
    assert "max_tokens" not in body


# ---------------------------------------------------------------------------- answer


def test_reasoning_has_two_names():
    assert read(
        {"choices": [{"delta": {"reasoning_content": "a"}}]},
        {"choices": [{"delta": {"reasoning": "b", "content": "c"}}]},
        FINISHED,
    ).message.parts == (Reasoning("ab"), Text("c"))


def test_a_refusal_is_text():
    assert read({"choices": [{"delta": {"refusal": "I cannot"}}]}, FINISHED).message.text == "I cannot"


def test_fragments_of_parallel_calls_may_be_mixed():
    reply = read(
        pieces({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}),
        pieces({"index": 1, "id": "b", "function": {"name": "g", "arguments": '{"y"'}}),
        pieces(
            {"index": 0, "function": {"arguments": '{"x":1}'}}, {"index": 1, "function": {"arguments": ":2}"}}
        ),
        FINISHED,
    )

    assert reply.message.calls == (ToolCall(CallId("a"), "f", {"x": 1}), ToolCall(CallId("b"), "g", {"y": 2}))
    assert reply.stop_reason == "tool_use"


@pytest.mark.parametrize("index", [{"index": 0}, {"index": None}, {}], ids=["all 0", "null", "none"])
def test_servers_that_do_not_number_their_calls(index: dict[str, object]):
    reply = read(
        pieces(index | {"id": "a", "function": {"name": "f", "arguments": '{"x":'}}),
        pieces(index | {"function": {"arguments": "1}"}}),
        pieces(index | {"id": "b", "function": {"name": "f", "arguments": {"x": 2}}}),
        FINISHED,
    )

    assert reply.message.calls == (ToolCall(CallId("a"), "f", {"x": 1}), ToolCall(CallId("b"), "f", {"x": 2}))


def test_servers_that_repeat_the_id_in_every_fragment():
    piece = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":1'}}
    rest = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "}"}}

    assert read(pieces(piece), pieces(rest), FINISHED).message.calls == (
        ToolCall(CallId("a"), "f", {"x": 1}),
    )


def test_only_the_first_choice_counts():
    assert (
        read(
            {
                "choices": [
                    {"index": 1, "delta": {"content": "no"}},
                    {"index": 0, "delta": {"content": "yes"}},
                ]
            },
            FINISHED,
        ).message.text
        == "yes"
    )


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, Usage(10, 5)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            Usage(3, 5, 6, 1, 2),
        ),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(0, 0, 9)),
        ({"prompt_tokens": None, "prompt_tokens_details": None}, Usage()),
    ],
)
def test_every_token_is_counted_once(usage: dict[str, object], counted: Usage):
    text = {"choices": [{"delta": {"content": "a"}}], "usage": None}

    assert read(text, FINISHED, {"choices": [], "usage": usage}).usage == counted


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.25}, 0.25),
        ({"cost": 0}, 0.0),
        ({"cost": -1}, None),
        ({"cost": 1e9}, None),
        ({"cost": "1"}, None),
        ({"cost": True}, None),
        ({"cost": 0.25, "is_byok": True}, None),
        ({}, None),
    ],
)
def test_the_cost_that_openrouter_reports_counts(usage: dict[str, object], cost: float | None):
    price, tokens = Price(1.0, 1.0), {"prompt_tokens": 1_000_000, **usage}
    text = {"choices": [{"delta": {"content": "a"}}]}
    openrouter = VENDORS["openrouter.ai"].quirks

    reply = read(text, FINISHED, {"choices": [], "usage": tokens}, quirks=openrouter)
    assert (reply.cost, reply.cost_at(price)) == (cost, 1.0 if cost is None else cost)
    assert read(text, FINISHED, {"choices": [], "usage": tokens}).cost is None


async def test_openrouter_gets_the_name_of_the_program_and_is_asked_for_the_cost(
    monkeypatch: pytest.MonkeyPatch,
):
    async with answering(sse(msgspec.json.encode(FINISHED))) as raw:
        monkeypatch.setitem(VENDORS, "127.0.0.1", VENDORS["openrouter.ai"])
        provider = OpenAIProvider.at("mine", raw.url, headers={"X-Mine": "1"}, params={"usage": {"more": 1}})
        await ask(provider, request())
        await provider.aclose()

    head, _, body = raw.requests[0].partition(b"\r\n\r\n")
    assert b"X-Title: Bridle\r\n" in head
    assert b"X-Mine: 1" in head
    assert msgspec.json.decode(body)["usage"] == {"include": True, "more": 1}


def test_a_stream_may_end_at_the_finish_reason_or_at_done():
    text = {"choices": [{"delta": {"content": "a"}}]}

    assert read(text, FINISHED, ends=b'{"choices":[]}').stop_reason == "end_turn"
    assert read(text).stop_reason == "end_turn"
    with pytest.raises(ProviderError, match="ended before the answer was complete"):
        read(text, ends=b'{"choices":[]}')


def test_unknown_finish_reasons_end_the_turn():
    assert (
        read({"choices": [{"delta": {"content": "a"}, "finish_reason": "eos_token"}]}).stop_reason
        == "end_turn"
    )


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["choices", "usage", "error", "model"]),
            st.recursive(
                st.none() | st.integers() | st.text(max_size=3),
                lambda inner: (
                    st.lists(inner, max_size=2)
                    | st.dictionaries(
                        st.sampled_from(
                            ["delta", "content", "tool_calls", "index", "id", "function", "arguments"]
                        ),
                        inner,
                    )
                ),
            ),
        )
    )
)
def test_any_events_give_a_reply_or_an_error(events: list[object]):
    with suppress(ProviderError):
        assert read(*events).message.role == "assistant"


# ---------------------------------------------------------------------------- quirks

LOOKED = Message(
    "assistant",
    (Reasoning("Let me look."), Text("I look."), ToolCall(CallId("call_0_0"), "read_file", {"path": "a"})),
)
FOUND = Message("tool", (ToolResult(CallId("call_0_0"), "read_file", "one"),))


def body_for(base_url: str, *messages: Message) -> dict[str, object]:
    provider = OpenAIProvider.at("server", base_url)
    return provider._body(request(*messages, max_output_tokens=100), {})


def test_the_longest_answer_is_called_as_the_vendor_calls_it():
    assert body_for("https://api.openai.com/v1", user_message("hi")) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 100,
    }


def test_deepseek_wants_its_reasoning_back_with_every_call():
    without = Message("assistant", (ToolCall(CallId("b"), "read_file", {}),))
    answer = Message("assistant", (Reasoning("Fine."), Text("Done.")))

    body = body_for("https://api.deepseek.com", user_message("hi"), LOOKED, FOUND, without, answer)

    call = {
        "id": "call_0_0",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path":"a"}'},
    }
    other = {"id": "b", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    assert body["messages"][2:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [call],
            "reasoning_content": "Let me look.",
        },
        {"role": "tool", "tool_call_id": "call_0_0", "content": "one"},
        {"role": "assistant", "tool_calls": [other], "reasoning_content": ""},
        {"role": "assistant", "content": "Done."},
    ]


def test_mistral_takes_no_stream_options_and_ids_of_nine_characters():
    own = ToolCall(CallId("aB3dE6gH9"), "read_file", {})

    body = body_for("https://api.mistral.ai/v1", LOOKED, FOUND, Message("assistant", (own,)))

    assert "stream_options" not in body
    _, looked, found, again = body["messages"]
    assert looked["tool_calls"][0]["id"] == found["tool_call_id"]
    assert len(found["tool_call_id"]) == 9
    assert found["tool_call_id"].isalnum()
    assert again["tool_calls"][0]["id"] == "aB3dE6gH9"


def test_content_may_come_in_chunks_of_different_kinds():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}, {"type": "other"}]}
    chunks = [thinking, {"type": "text", "text": "Yes"}, {"type": "reference"}, "x", None]

    reply = read({"choices": [{"delta": {"content": chunks}}]}, FINISHED)

    assert reply.message == Message("assistant", (Reasoning("Hm."), Text("Yes")))


@pytest.mark.parametrize(
    ("base_url", "takes_any"), [("https://api.openai.com/v1", False), ("http://127.0.0.1:9/v1", True)]
)
def test_an_array_is_wanted_of_servers_that_take_one(base_url: str, *, takes_any: bool):
    asked = request(output_schema={"type": "array", "items": {"type": "string"}})

    assert ("response_format" in OpenAIProvider.at("server", base_url)._body(asked, {})) == takes_any
