"""A printed call counts as a call only if it is the whole answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.providers.llama.provider import PrintedCall, classify_start, parse_printed_call

TOOLS = {"list_files", "grep"}
LIST = PrintedCall("list_files", '{"pattern":"*"}')
CALLS = [
    '{"name": "list_files", "arguments": {"pattern": "*"}}',
    '{"tool": "list_files", "arguments": {"pattern": "*"}}',
    '{"function": "list_files", "parameters": {"pattern": "*"}}',
    '{"type": "function", "function": {"name": "list_files", "arguments": "{\\"pattern\\": \\"*\\"}"}}',
    '\n {"arguments": {"pattern": "*"}, "name": "list_files"} \n',
    '<tool_call>\n{"name": "list_files", "arguments": {"pattern": "*"}}\n</tool_call>',
]
PROSE = [
    "",
    "Hello",
    "{",
    "{}",
    "[1]",
    '{"name": "Ann", "arguments": {}}',
    '{"name": "list_files"}',
    '{"name": "list_files", "arguments": [1]}',
    '{"name": "list_files", "arguments": "x"}',
    '{"name": "list_files", "arguments": {}, "note": "as an example"}',
    '{"name": ["list_files"], "arguments": {}}',
    '{"name": "list_files", "tool": "grep", "arguments": {}}',
    'Use {"name": "list_files", "arguments": {}}',
    '{"name": "list_files", "arguments": {}} is what I would do',
    '```json\n{"name": "list_files", "arguments": {}}\n```',
    '{"name": "list_files", "arguments": {',
]


@pytest.mark.parametrize("text", CALLS)
def test_a_printed_call_is_a_call(text: str) -> None:
    assert parse_printed_call(text, TOOLS) == LIST


@pytest.mark.parametrize("text", PROSE)
def test_anything_else_is_an_answer(text: str) -> None:
    assert parse_printed_call(text, TOOLS) is None


@pytest.mark.parametrize("text", CALLS)
def test_no_beginning_of_a_call_is_taken_for_prose(text: str) -> None:
    assert "prose" not in {classify_start(text[:end]) for end in range(len(text) + 1)}
    assert classify_start(text) == "call"


@pytest.mark.parametrize(
    "text", ["Hello", "<b>", "{x", '{"answer"', '{"named', "[", '{"a": 1}', "{}", "<tool_call>x"]
)
def test_words_are_shown_as_soon_as_they_are_clear(text: str) -> None:
    assert classify_start(text) == "prose"


KEYS = st.sampled_from(["name", "tool", "function", "arguments", "type", "x"])
VALUES = st.none() | st.text(max_size=5) | st.integers()


@given(st.recursive(VALUES, lambda inner: st.dictionaries(KEYS, inner), max_leaves=6))
def test_no_json_does_harm(value: object) -> None:
    assert parse_printed_call(json.dumps(value), TOOLS) is None
    classify_start(json.dumps(value))
