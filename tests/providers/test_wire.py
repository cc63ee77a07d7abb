"""What the wires share: alternating turns, and ids, arguments and files that vendors take."""

import pytest

from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.providers.wire import (
    EMPTY,
    Turn,
    count_at,
    list_at,
    sealed,
    text_of,
    turns_of,
    vendor_params,
    versioned,
    wire_args,
    wire_call_id,
    word_at,
)

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

    assert turns_of(messages, anything) == [
        Turn("user", [Text("one"), Text("two")]),
        Turn("assistant", [Text("three"), A, B]),
        Turn("user", [Text("four"), Text("five")], [result(A), result(B)]),
    ]


def test_what_cannot_be_sent_is_left_out_and_so_is_reasoning_at_the_end():
    said = Message("assistant", (Reasoning("a"), Text("b"), Media("x", ""), Reasoning("c"), Reasoning("d")))

    assert turns_of([said], lambda part: not isinstance(part, Media)) == [
        Turn("assistant", [Reasoning("a"), Text("b")])
    ]


def test_an_empty_prompt_says_that_it_is_empty():
    assert turns_of([user_message(" \n"), Message("user", (Media("x", ""),))], anything) == [
        Turn("user", [Text(EMPTY), Media("x", "")])
    ]


def test_a_result_without_its_call_comes_last():
    lost = ToolResult(CallId("z"), "h", "?")

    turns = turns_of([Message("assistant", (A,)), Message("tool", (lost, result(A)))], anything)

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
    assert text_of(Media(mime, data)) == text


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
    assert versioned(given, "v1") == address


def test_only_the_wire_itself_reads_its_seals():
    part = Text("a", {"anthropic": {"signature": "s"}, "gemini": "broken"})

    assert [sealed(part, wire) for wire in ("anthropic", "gemini", "openai")] == [{"signature": "s"}, {}, {}]


def test_a_vendor_may_send_anything_at_any_place():
    value = {"a": {"b": "word", "c": 3, "d": [1], "e": None, "f": -1}}

    assert word_at(value, "a", "b") == "word"
    assert count_at(value, "a", "c") == 3
    assert list_at(value, "a", "d") == [1]
    assert [word_at(value, "a", key) for key in "cdexf"] == [""] * 5
    assert [count_at(value, "a", key) for key in "bdexf"] == [0] * 5
    assert [list_at(value, "a", key) for key in "bcex"] == [[]] * 4
    assert word_at([1], "a", "b") == ""


def test_the_last_word_on_a_parameter_wins_and_what_is_ours_is_not_sent():
    assert vendor_params({"top_k": 1, "seed": 2}, {"top_k": 3, "tool_role": False}) == {"top_k": 3, "seed": 2}
