"""Fragments become deltas and one complete reply."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, StopReason, Text, ToolCall, Usage, user_message
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import ReasoningDelta, TextDelta, ToolCallDelta
from bridle.providers.reply_builder import ReplyBuilder, reply_position

USED = Usage(3, 4)


def args_of(text: str) -> ToolCall:
    builder = ReplyBuilder("x", 0)
    builder.call(0, call_id="a", name="f", args=text)
    return builder.finish("tool_use", USED, "m").message.calls[0]


def test_parts_keep_the_order_in_which_they_began():
    builder = ReplyBuilder("x", 0)

    deltas = [
        builder.reasoning("h"),
        builder.reasoning("m"),
        builder.text("a"),
        builder.call(0, call_id="c0", name="f"),
        builder.call(1, call_id="c1", name="g", args='{"b":'),
        builder.call(0, args='{"a":1}'),
        builder.text("z"),
        builder.call(1, args="2}"),
    ]

    assert deltas == [
        ReasoningDelta("h"),
        ReasoningDelta("m"),
        TextDelta("a"),
        ToolCallDelta(CallId("c0"), "f", ""),
        ToolCallDelta(CallId("c1"), "g", '{"b":'),
        ToolCallDelta(CallId("c0"), "f", '{"a":1}'),
        TextDelta("z"),
        ToolCallDelta(CallId("c1"), "g", "2}"),
    ]
    assert builder.finish("tool_use", USED, "m") == ModelReply(
        Message(
            "assistant",
            (
                Reasoning("hm"),
                Text("a"),
                ToolCall(CallId("c0"), "f", {"a": 1}),
                ToolCall(CallId("c1"), "g", {"b": 2}),
                Text("z"),
            ),
        ),
        "tool_use",
        USED,
        "m",
    )


def test_a_call_without_an_id_is_named_by_its_place():
    builder = ReplyBuilder("x", 7)
    builder.call(3, name="f")
    builder.call(9, name="g")

    assert [call.id for call in builder.finish("tool_use", USED, "").message.calls] == [
        "call_7_0",
        "call_7_1",
    ]


@pytest.mark.parametrize("text", ["", " \n", "{}"])
def test_no_arguments_are_an_empty_object(text: str):
    assert args_of(text) == ToolCall(CallId("a"), "f")


@pytest.mark.parametrize(
    "text",
    ['{"path": "a', "[1]", "null", "NaN", '{"a":1e999}', '{"a":' * 5_000, '{"a":"\\ud800"}', "{'a':1}"],
)
def test_arguments_that_are_no_object_are_kept_as_they_came(text: str):
    assert args_of(text) == ToolCall(CallId("a"), "f", invalid=text)


@given(st.text())
def test_any_argument_text_gives_a_call(text: str):
    call = args_of(text)

    assert call.invalid in ("", text)


@pytest.mark.parametrize(
    ("said", "with_call", "meant"),
    [
        ("end_turn", True, "tool_use"),
        ("tool_use", True, "tool_use"),
        ("max_tokens", True, "max_tokens"),
        ("tool_use", False, "end_turn"),
        ("stop_sequence", False, "stop_sequence"),
        ("content_filter", False, "content_filter"),
    ],
)
def test_the_parts_decide_whether_tools_are_wanted(said: StopReason, with_call: bool, meant: StopReason):
    builder = ReplyBuilder("x", 0)
    builder.text("t")
    if with_call:
        builder.call(0, name="f")

    assert builder.finish(said, USED, "").stop_reason == meant


@pytest.mark.parametrize(
    ("stop_reason", "kind"), [("end_turn", "empty_reply"), ("content_filter", "content_filtered")]
)
@pytest.mark.parametrize("thought", ["", "hm"])
def test_an_answer_with_nothing_in_it_is_an_error(stop_reason: StopReason, kind: str, thought: str):
    builder = ReplyBuilder("x", 0)
    builder.text(" \n")
    builder.reasoning(thought)

    with pytest.raises(ProviderError) as caught:
        builder.finish(stop_reason, USED, "")
    assert caught.value.kind == kind


def test_an_answer_that_was_cut_in_its_reasoning_is_an_answer():
    builder = ReplyBuilder("x", 0)
    builder.reasoning("hm")

    assert builder.finish("max_tokens", USED, "").stop_reason == "max_tokens"


def test_the_turn_is_the_number_of_answers_so_far():
    answer = Message("assistant", (Text("a"),))

    assert reply_position(ModelRequest("m", "", (user_message("a"), answer, user_message("b"), answer))) == 2


def test_a_vendors_metadata_stays_with_its_part():
    builder = ReplyBuilder("x", 0)
    builder.reasoning("a")
    builder.mark("reasoning", "v", signature="one")
    builder.close()
    builder.mark("reasoning", "v", sealed="two")
    builder.text("b")
    builder.mark("text", "v")
    builder.close()
    builder.text("c")
    builder.mark("text", "v", id="three")
    builder.mark("text", "v", phase="four")
    builder.call(7, name="f")
    builder.add_call_metadata(7, "v", id="five")

    assert builder.finish("end_turn", USED, "").message.parts == (
        Reasoning("a", {"v": {"signature": "one"}}),
        Reasoning("", {"v": {"sealed": "two"}}),
        Text("b"),
        Text("c", {"v": {"id": "three", "phase": "four"}}),
        ToolCall(CallId("call_0_0"), "f", meta={"v": {"id": "five"}}),
    )
