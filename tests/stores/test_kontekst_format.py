"""Kontekst's line format, as its own reader expects it."""

from bridle.core.context import Counted
from bridle.core.messages import Message, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.stores.kontekst_format import encode_message, encode_meta


def test_empty_fields_are_left_out_but_not_role_and_content():
    assert encode_message(Counted(user_message(""), 0), "") == b'{"role":"user","content":""}\n'


def test_angle_brackets_ampersands_and_line_separators_are_escaped_as_go_does():
    item = Counted(user_message("<b>&\u2028\u2029é"), 2)

    assert (
        encode_message(item, "a&b")
        == (
            '{"role":"user","content":"\\u003cb\\u003e\\u0026\\u2028\\u2029é",'
            '"agent_name":"a\\u0026b","tokens":2}\n'
        ).encode()
    )


def test_arguments_have_sorted_keys_and_reasoning_stays_out():
    call = ToolCall("c1", "grep", {"b": 1, "a": {"d": 1, "c": 2}})
    item = Counted(Message("assistant", (Reasoning("secret"), Text("hi"), call)), 0)

    assert encode_message(item, "") == (
        b'{"role":"assistant","content":"hi","tool_calls":[{"id":"c1","name":"grep",'
        b'"arguments":{"a":{"c":2,"d":1},"b":1}}]}\n'
    )


def test_each_result_is_a_line_with_its_tokens():
    results = (ToolResult("c1", "t", "one"), ToolResult("c2", "t", "two"))

    assert encode_message(Counted(Message("tool", results), 7, result_tokens=(3, 4)), "") == (
        b'{"role":"tool","content":"one","tool_result":{"call_id":"c1","name":"t","output":"one"},"tokens":3}\n'
        b'{"role":"tool","content":"two","tool_result":{"call_id":"c2","name":"t","output":"two"},"tokens":4}\n'
    )


def test_the_meta_file_names_the_agent():
    assert encode_meta("coder") == b'{"default_agent":"coder"}'
