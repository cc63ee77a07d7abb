"""Schemas from untrusted servers."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.mcp.message_repair import find_schema_problem

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["$ref", "properties", "type", "$defs", "items", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b%20c"}}, "$defs": {"a/b c": True}},
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/a"}}},
        {"type": "object", "properties": {"a": {"$ref": "#here"}}, "$defs": {"x": {"$anchor": "here"}}},
        {"type": "object", "allOf": [{"$ref": "#/anyOf/0"}], "anyOf": [{"minProperties": 1}]},
    ],
)
def test_a_schema_that_can_be_used_is_left_alone(schema: object):
    assert find_schema_problem(schema) == ""


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (None, "its schema is no object"),
        ([], "its schema is no object"),
        ({"type": "array"}, "its schema is of type 'array', not of type object"),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}},
            "in its schema #/properties/a/$ref points nowhere: '#/$defs/b'",
        ),
        ({"$ref": "http://127.0.0.1/x"}, "in its schema #/$ref points nowhere: 'http://127.0.0.1/x'"),
        ({"$ref": 3}, "in its schema #/$ref points nowhere: '3'"),
        ({"$ref": "#/anyOf/9", "anyOf": [{}]}, "in its schema #/$ref points nowhere: '#/anyOf/9'"),
        ({"$ref": "#/title", "title": "x"}, "in its schema #/$ref points nowhere: '#/title'"),
        ({"description": "x" * 70_000}, "its schema has 70,018 bytes, 65,536 are allowed"),
    ],
)
def test_what_is_wrong_with_a_schema_is_said(schema: object, problem: str):
    assert find_schema_problem(schema) == problem


def test_a_schema_without_a_bottom_is_refused():
    schema: dict[str, object] = {}
    for _ in range(100):
        schema = {"properties": schema}

    assert find_schema_problem(schema) == "its schema is nested deeper than 64 levels"


@given(JSON)
def test_whatever_it_is_there_is_an_answer(schema: object):
    assert isinstance(find_schema_problem(schema), str)


def test_a_schema_that_would_take_forever_to_check_is_refused():
    parts = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(40)}
    schema = {"type": "object", "$ref": "#/$defs/d0", "$defs": {**parts, "d40": {}}}

    assert find_schema_problem(schema) == "its schema is too complex to check"


def test_many_references_are_followed_soon():
    schema = {"not": {"$anchor": "z"}, "anyOf": [{"$ref": "#z"} for _ in range(3500)]}
    began_s = time.monotonic()

    assert find_schema_problem(schema) == ""
    assert time.monotonic() - began_s < 5
