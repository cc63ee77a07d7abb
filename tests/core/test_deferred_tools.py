"""Calls through `tool_call`: what is recorded, and what the model is sent again."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.deferred_tools import CALL, unwrap_call, unwrap_calls, wrap_calls
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message

GIT = "mcp__git__log"
DEFERRED = frozenset({GIT})


def made(args: dict[str, Any], name: str = CALL, **others: Any) -> ToolCall:
    return ToolCall(CallId("c1"), name, args, **others)


def test_a_call_is_recorded_as_what_it_stands_for():
    wrapped = made({"name": GIT, "arguments": {"count": 3}}, meta={"item": "7"})

    assert unwrap_call(wrapped, DEFERRED) == made({"count": 3}, GIT, meta={"item": "7"})


def test_arguments_may_be_left_out():
    assert unwrap_call(made({"name": GIT}), DEFERRED) == made({}, GIT)


def test_arguments_may_be_written_as_text():
    assert unwrap_call(made({"name": GIT, "arguments": '{"count": 3}'}), DEFERRED) == made({"count": 3}, GIT)


def test_what_names_no_deferred_tool_stays_as_it_is():
    for call in (
        made({"name": "bash", "arguments": {"command": "id"}}),
        made({"name": 3, "arguments": {}}),
        made({"name": GIT, "arguments": "text"}),
        made({"name": GIT, "arguments": "[1]"}),
        made({"name": GIT, "arguments": "\ud800"}),
        made({"name": [GIT]}),
        made({}),
        made({}, invalid="{"),
        made({"name": GIT, "arguments": {}}, "bash"),
    ):
        assert unwrap_call(call, DEFERRED) == call


def test_a_conversation_is_sent_in_the_words_of_the_model():
    spoken = (
        user_message("when?"),
        Message("assistant", (Text("let me see"), made({"name": GIT, "arguments": {"count": 3}}))),
        Message("tool", (ToolResult(CallId("c1"), CALL, "yesterday"),)),
    )
    recorded = (
        spoken[0],
        unwrap_calls(spoken[1], DEFERRED),
        Message("tool", (ToolResult(CallId("c1"), GIT, "yesterday"),)),
    )

    assert recorded[1].calls == (made({"count": 3}, GIT),)
    assert wrap_calls(recorded, DEFERRED) == spoken
    assert wrap_calls(recorded, frozenset()) == recorded


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8), _values, max_size=4))
def test_every_whole_call_comes_back_the_same(arguments: dict[str, Any]):
    message = Message("assistant", (made({"name": GIT, "arguments": arguments}),))

    assert wrap_calls([unwrap_calls(message, DEFERRED)], DEFERRED) == (message,)


@given(st.dictionaries(st.sampled_from(["name", "arguments", "more"]), _values, max_size=3))
def test_no_arguments_break_it(args: dict[str, Any]):
    call = made(args)

    assert unwrap_call(call, DEFERRED) in (call, made(args.get("arguments", {}), GIT))
