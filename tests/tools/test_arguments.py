"""The messages to a model about wrong arguments, word for word."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.codeact import read_reply
from bridle.core.errors import ToolError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall
from bridle.core.tool import ToolSpec
from bridle.tools.arguments import fit_arguments, json_error, validate_arguments

READ = ToolSpec(
    "read_file",
    "",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "start_line": {"type": "integer"},
            "end_line": {"type": "integer"},
        },
        "required": ["path"],
    },
)
RICH = ToolSpec(
    "rich",
    "",
    {
        "type": "object",
        "properties": {
            "method": {"type": "string", "enum": ["GET", "HEAD"]},
            "ratio": {"type": "number", "minimum": 0},
            "quick": {"type": "boolean"},
            "maybe": {"type": ["integer", "null"]},
            "headers": {"type": "object", "properties": {"depth": {"type": "integer"}}},
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "line": {"type": "integer"}},
                    "required": ["old"],
                },
            },
            "any": {},
        },
        "required": ["edits"],
        "additionalProperties": False,
    },
)


@pytest.mark.parametrize(
    ("spec", "args", "message"),
    [
        (READ, {}, 'read_file: "path" is missing, it must be a string'),
        (READ, {"path": 5}, 'read_file: "path" must be a string, got the integer 5'),
        (READ, {"path": None}, 'read_file: "path" must be a string, got null'),
        (READ, {"path": True}, 'read_file: "path" must be a string, got true'),
        (
            READ,
            {"path": {"a": 1}, "end_line": 1.5},
            (
                'read_file: "end_line" must be an integer, got the number 1.5; '
                '"path" must be a string, got the object {"a": 1}'
            ),
        ),
        (
            READ,
            {"path": "a", "start_line": "soon"},
            'read_file: "start_line" must be an integer, got the string "soon"',
        ),
        (
            READ,
            {"path": ["x" * 100]},
            f'read_file: "path" must be a string, got the array ["{"x" * 58}…',
        ),
        (
            READ,
            {"file_path": "a"},
            (
                'read_file: "path" is missing, it must be a string'
                ' (hint: read_file does not know "file_path", it takes path, start_line, end_line)'
            ),
        ),
        (
            RICH,
            {"edits": [{"old": "a"}, {"line": "x"}, "b"]},
            (
                'rich: "edits[1].line" must be an integer, got the string "x"; "edits[1].old" is missing;'
                ' "edits[2]" must be an object, got the string "b"'
            ),
        ),
        (
            RICH,
            {"edits": [], "method": "PUT"},
            'rich: "method" must be one of "GET", "HEAD", got the string "PUT"',
        ),
        (RICH, {"edits": [], "maybe": "x"}, 'rich: "maybe" must be an integer or null, got the string "x"'),
        (RICH, {"edits": [], "ratio": -1}, 'rich: "ratio": -1 is less than the minimum of 0'),
        (
            RICH,
            {"edits": [], "é": 1},
            (
                'rich: unknown "é" (hint: rich does not know "é",'
                " it takes method, ratio, quick, maybe, headers, edits, any)"
            ),
        ),
    ],
)
def test_a_wrong_argument_is_explained(spec: ToolSpec, args: dict[str, Any], message: str):
    with pytest.raises(ToolError) as caught:
        fit_arguments(spec, args)

    assert str(caught.value) == message


def test_many_problems_are_not_all_listed():
    with pytest.raises(ToolError) as caught:
        validate_arguments(RICH, {"edits": list(range(100))})

    assert str(caught.value).count("must be an object") == 5


@pytest.mark.parametrize(
    ("spec", "args", "fitted"),
    [
        (READ, {"path": "2"}, {"path": "2"}),
        (READ, {"path": "a", "start_line": "2"}, {"path": "a", "start_line": 2}),
        (READ, {"path": "a", "start_line": "-2.0"}, {"path": "a", "start_line": -2}),
        (READ, {"path": "a", "end_line": None}, {"path": "a"}),
        (RICH, {"edits": "[]", "ratio": "0.5"}, {"edits": [], "ratio": 0.5}),
        (RICH, {"edits": [], "ratio": "3", "quick": "true"}, {"edits": [], "ratio": 3, "quick": True}),
        (RICH, {"edits": [{"old": "1", "line": "1"}]}, {"edits": [{"old": "1", "line": 1}]}),
        (RICH, {"edits": '[{"old": "1", "line": "1"}]'}, {"edits": [{"old": "1", "line": 1}]}),
        (RICH, {"edits": "[]", "headers": '{"depth": "1"}'}, {"edits": [], "headers": {"depth": 1}}),
        (RICH, {"edits": "[]", "maybe": None, "any": None}, {"edits": [], "maybe": None, "any": None}),
    ],
)
def test_a_near_miss_is_taken_as_meant(spec: ToolSpec, args: dict[str, Any], fitted: dict[str, Any]):
    assert fit_arguments(spec, args) == fitted


@pytest.mark.parametrize(
    "text", ["", "two", "1.5", "0x10", "1_000", "NaN", "Infinity", "[1]", "null", "9" * 5000]
)
def test_what_is_no_integer_is_not_made_one(text: str):
    with pytest.raises(ToolError, match='"start_line" must be an integer, got the string'):
        fit_arguments(READ, {"path": "a", "start_line": text})


def test_valid_arguments_are_returned_as_they_are():
    args = {"path": "a", "end_line": 3, "more": {"x": [None]}}

    assert fit_arguments(READ, args) is args


@pytest.mark.parametrize(
    "schema",
    [{"type": "strin"}, {"$ref": "http://127.0.0.1:9/x"}, {"$ref": "file:///etc/passwd"}, {"pattern": "("}],
)
def test_a_broken_schema_is_an_error_of_the_tool(schema: dict[str, Any]):
    """Nothing is fetched for it either: an address in a schema may be any stranger's."""
    with pytest.raises(ToolError, match=r"^bad cannot be used, its parameter schema is broken: "):
        fit_arguments(ToolSpec("bad", "", schema), {})


def broken(text: str) -> str:
    return str(json_error(ToolCall(CallId("1"), "write_file", invalid=text)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"path": "a" "content": "b"}',
            (
                "write_file: the arguments are not JSON: Expecting ',' delimiter at line 1 column 14,"
                ' between "{\\"path\\": \\"a\\" " and "\\"content\\": \\"b\\"}" (hint: send one JSON object)'
            ),
        ),
        (
            '{"path": "a",\n "content": "b',
            (
                "write_file: the arguments are not JSON: Unterminated string starting at line 2 column 13,"
                ' between "{\\"path\\": \\"a\\",\\n \\"content\\": " and "\\"b" (hint: send one JSON object)'
            ),
        ),
        ("[1, 2]", "write_file: the arguments must be a JSON object, got the array [1, 2]"),
        ('"text"', 'write_file: the arguments must be a JSON object, got the string "text"'),
        (
            '{"path": "\\ud800"}',
            "write_file: the arguments are not valid Unicode (hint: send them as UTF-8)",
        ),
        (
            '["\\ud800"]',
            'write_file: the arguments must be a JSON object, got the array ["\\ud800"]',
        ),
        ("null", "write_file: the arguments must be a JSON object, got null"),
        (
            '{"a": NaN}',
            "write_file: the arguments are not JSON: NaN is not a JSON value (hint: send one JSON object)",
        ),
    ],
)
def test_broken_json_says_where_it_broke(text: str, message: str):
    assert broken(text) == message


def test_a_code_block_that_was_cut_off_is_not_called_broken_json():
    reply = read_reply(Message("assistant", (Text("```python\nremove('a"),)), "max_tokens")

    assert str(json_error(reply.calls[0])) == (
        "python: the reply was cut off inside a code block; none of its code was run"
        " (hint: write less code at a time)"
    )


def test_json_that_is_nested_too_deep_is_refused():
    assert broken("[" * 200_000).startswith("write_file: the arguments are not JSON: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*RICH.parameters["properties"], "other"]), JSON))
def test_arguments_are_fitted_or_refused(args: dict[str, Any]):
    """Whatever a model sends: the result is valid, or the error is one for the model."""
    try:
        fitted = fit_arguments(RICH, args)
    except ToolError:
        return

    validate_arguments(RICH, fitted)


def test_arguments_that_would_take_forever_to_check_are_left_to_the_tool():
    inside = {"additionalProperties": {"$ref": "#"}}
    spec = ToolSpec("twice", "", {"type": "object", "allOf": [inside, inside]})
    args: dict[str, Any] = {}
    for _ in range(40):
        args = {"a": args}

    assert fit_arguments(spec, args) == args
