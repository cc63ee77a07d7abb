import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.ids import CallId
from bridle.core.messages import (
    Media,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    user_message,
    with_unique_call_ids,
)
from tests.core.values import values_of

FIRST = ToolCall(CallId("a"), "read_file", {"path": "x"})
SECOND = ToolCall(CallId("b"), "grep")
REPLY = Message(
    "assistant", (Reasoning("hm, "), Text("Look: "), FIRST, Reasoning("so"), SECOND, Text("done"))
)


def test_a_message_reads_as_text_reasoning_and_calls_in_the_order_of_its_parts():
    assert (REPLY.text, REPLY.reasoning, REPLY.calls) == ("Look: done", "hm, so", (FIRST, SECOND))


def test_media_and_results_are_not_text():
    result = ToolResult(CallId("a"), "read_file", "content", media=(Media("image/png", "aGk="),))
    message = Message("tool", (result, Media("image/png", "aGk=")))

    assert (message.text, message.reasoning, message.calls) == ("", "", ())


def test_user_message_wraps_words():
    assert user_message("hi") == Message("user", (Text("hi"),))


def test_context_counts_every_kind_once_and_reasoning_as_part_of_the_output():
    assert Usage(input=1, output=20, cache_read=300, cache_write=4000, reasoning=15).context == 4321


@given(values_of(Usage), values_of(Usage), values_of(Usage))
def test_usage_adds_field_by_field(one: Usage, two: Usage, three: Usage):
    assert one + Usage() == one
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert (one + two).context == one.context + two.context
    assert (one + two).reasoning == one.reasoning + two.reasoning


@pytest.mark.parametrize(
    ("given_ids", "used", "ids"),
    [
        (["a", "b"], set(), ["a", "b"]),
        (["a", "b"], {"c"}, ["a", "b"]),
        (["a", "b"], {"a"}, ["a_3_0", "b"]),
        (["a", "a", "a"], set(), ["a", "a_3_1", "a_3_2"]),
        (["", ""], set(), ["call_3_0", "call_3_1"]),
        ([""], {"call_3_0"}, ["call_3_0_"]),
        (["a_3_1", "a", "a_3_1"], {"a"}, ["a_3_1", "a_3_1_", "a_3_1_3_2"]),
    ],
)
def test_calls_without_an_id_or_with_one_that_is_taken_are_renamed(
    given_ids: list[str], used: set[CallId], ids: list[str]
):
    """Some vendors give no ids, and a run counts its turns from one again."""
    message = Message("assistant", tuple(replace(FIRST, id=CallId(given_id)) for given_id in given_ids))

    renamed = with_unique_call_ids(message, used, 3)

    assert renamed == Message("assistant", tuple(replace(FIRST, id=CallId(new)) for new in ids))


def test_a_message_without_calls_needs_no_new_ids():
    assert with_unique_call_ids(user_message("hi"), {CallId("a")}, 1) == user_message("hi")


call_ids = st.sampled_from(["", "a", "a_1_0", "a_1_1", "call", "call_1_0", "call_1_1"]).map(CallId)


@given(st.lists(call_ids, max_size=4), st.frozensets(call_ids))
def test_after_renaming_every_call_id_is_new_and_nothing_else_has_changed(
    given_ids: list[CallId], used: frozenset[CallId]
):
    message = Message("assistant", (Text("so"), *(replace(FIRST, id=given_id) for given_id in given_ids)))

    renamed = with_unique_call_ids(message, used, 1)

    ids = [call.id for call in renamed.calls]
    assert renamed.parts == (Text("so"), *(replace(FIRST, id=new) for new in ids))
    taken = {*used, ""}
    for old, new in zip(given_ids, ids, strict=True):
        assert new not in taken
        assert new == old or old in taken
        taken.add(new)


def test_parts_made_without_metadata_do_not_share_it():
    first, second = Text("a"), Text("b")

    first.meta["signature"] = "x"

    assert second == Text("b", {})
