from hypothesis import given

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


def test_parts_made_without_metadata_do_not_share_it():
    first, second = Text("a"), Text("b")

    first.meta["signature"] = "x"

    assert second == Text("b", {})
