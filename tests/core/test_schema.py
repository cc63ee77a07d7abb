"""The output schema: a schema or a wrapper, limited in size, and self-contained."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import UsageError
from bridle.core.schema import (
    MAX_SCHEMA_BYTES,
    MAX_SCHEMA_DEPTH,
    OutputSchema,
    forbid_extra_properties,
    is_costly,
    is_deeper,
    map_parts,
    subschemas,
    with_compat,
)

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels - 1):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (PERSON, OutputSchema(PERSON)),
        ({"schema": PERSON}, OutputSchema(PERSON)),
        ({"schema": PERSON, "name": None, "strict": False}, OutputSchema(PERSON)),
        ({"schema": PERSON, "compat": "strict"}, OutputSchema(PERSON, compat="strict")),
        ({"schema": PERSON, "name": "person"}, OutputSchema({"title": "person", **PERSON})),
        ({"schema": PERSON, "name": "n" * 99}, OutputSchema({"title": "n" * 64, **PERSON})),
        ({"schema": PERSON | {"title": "Own"}, "name": "person"}, OutputSchema(PERSON | {"title": "Own"})),
        ({"schema": PERSON, "format": "meerkat_v1", "more": 1}, OutputSchema(PERSON)),
        ({"schema": PERSON, "more": 1}, OutputSchema({"schema": PERSON, "more": 1})),
        ({"schema": PERSON, "format": "date"}, OutputSchema(PERSON)),
        ({"properties": {"schema": {}}}, OutputSchema({"properties": {"schema": {}}})),
    ],
    ids=str,
)
def test_a_wrapper_is_told_from_a_schema(given: dict[str, Any], read: OutputSchema):
    assert OutputSchema.of(given) == read


def test_strict_objects_have_exactly_the_properties_they_name():
    schema = {
        "properties": {
            "a": {"type": "object", "properties": {"b": {}, "c": {}}, "required": ["b"]},
            "map": {"type": "object", "properties": {"d": {}}, "additionalProperties": {"type": "string"}},
        },
        "$defs": {"e": {"properties": {"f": {}}, "additionalProperties": False}},
    }

    read = OutputSchema.of({"schema": schema, "strict": True})

    assert read == OutputSchema(forbid_extra_properties(schema), strict=True)
    assert read.schema == {
        "properties": {
            "a": {
                "type": "object",
                "properties": {"b": {}, "c": {}},
                "required": ["b", "c"],
                "additionalProperties": False,
            },
            "map": {"type": "object", "properties": {"d": {}}, "additionalProperties": {"type": "string"}},
        },
        "$defs": {"e": {"properties": {"f": {}}, "additionalProperties": False, "required": ["f"]}},
        "required": ["a", "map"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"schema": True}, "the schema must be a JSON object"),
        ({"schema": [], "format": "meerkat_v1"}, "the schema must be a JSON object"),
        ({"schema": {}, "compat": "loose"}, "Invalid enum value 'loose'"),
        ({"schema": {}, "strict": "yes"}, "Expected `bool`"),
        ({"$ref": "http://127.0.0.1:9/x"}, "#/$ref is 'http://127.0.0.1:9/x', which is not in the document"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "#/items/$ref is 'file:///etc/passwd'"),
        ({"properties": {"a/b": {"anyOf": [{"$ref": "other.json#/x"}]}}}, "#/properties/a~1b/anyOf/0/$ref"),
        ({"$defs": {"a": {"$dynamicRef": "https://x"}}}, "#/$defs/a/$dynamicRef"),
        ({"items": [{"$ref": "x"}]}, "#/items/0/$ref"),
        ({"if": {"$ref": "x"}}, "#/if/$ref"),
        ({"items": {"$id": "https://example.com/inner"}}, "#/items/$id starts another document"),
        ({"enum": []}, "no value can match it"),
        ({"not": {}}, "no value can match it"),
        ({"not": True}, "no value can match it"),
        ({"x": "a" * MAX_SCHEMA_BYTES}, "bytes, 262,144 are allowed"),
        (nested(MAX_SCHEMA_DEPTH + 1), "deeper than 64 levels"),
        ({"const": "\ud800"}, "it is not JSON"),
        ({"const": {1j}}, "it is not JSON"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_used_is_refused(given: dict[str, Any], message: str):
    with pytest.raises(UsageError) as caught:
        OutputSchema.of(given)

    assert str(caught.value).startswith("output schema: ")
    assert message in str(caught.value)


def test_what_only_looks_like_a_reference_is_left_alone():
    schema = {
        "$id": "https://example.com/whole",
        "properties": {"$ref": {"const": {"$ref": "http://x"}}, "a": {"$ref": "#/$defs/b"}},
        "default": {"$ref": "http://x"},
        "$defs": {"b": {"enum": [{"$ref": "http://x"}]}},
    }

    assert OutputSchema.of(schema) == OutputSchema(schema)


def test_the_deepest_schema_is_taken():
    assert OutputSchema.of(nested(MAX_SCHEMA_DEPTH)).schema == nested(MAX_SCHEMA_DEPTH)


def test_every_schema_in_a_schema_is_visited_once():
    schema = {
        "properties": {"a": {"items": {"title": "x"}}, "b": True},
        "allOf": [{"not": {"title": "y"}}, False],
        "additionalProperties": {"title": "z"},
        "enum": [{"title": "data"}],
    }

    assert sorted(where for where, _ in subschemas(schema)) == [
        "#",
        "#/additionalProperties",
        "#/allOf/0",
        "#/allOf/0/not",
        "#/properties/a",
        "#/properties/a/items",
    ]


def test_changing_the_parts_keeps_the_rest():
    schema = {"properties": {"a": 1}, "anyOf": [2], "items": [3], "not": 4, "const": 5, "minimum": 6}

    assert map_parts(schema, lambda part: f"<{part}>") == {
        "properties": {"a": "<1>"},
        "anyOf": ["<2>"],
        "items": ["<3>"],
        "not": "<4>",
        "const": 5,
        "minimum": 6,
    }


def test_compat_can_be_set_on_both_forms():
    assert with_compat(PERSON, "strict") == {"schema": PERSON, "format": "meerkat_v1", "compat": "strict"}
    assert with_compat({"schema": PERSON, "name": "n", "compat": "strict"}, "lossy") == {
        "schema": PERSON,
        "name": "n",
        "compat": "lossy",
    }


VALUES = st.recursive(
    st.none() | st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner)
)


def depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@given(VALUES, st.integers(0, 6))
def test_depth_is_counted_in_objects_and_arrays(value: Any, most: int):
    assert is_deeper(value, most) == (depth(value) > most)


def test_a_value_within_itself_is_too_deep():
    value: list[Any] = []
    value.append(value)

    assert is_deeper(value, 64)


def doubled(levels: int) -> dict[str, Any]:
    """Return a schema each level of which is checked twice by the one above it."""
    parts: dict[str, Any] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{levels}": {"type": "object"}}}


def looking_again(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


ANY_JSON = {
    "additionalProperties": {"$ref": "#/$defs/value"},
    "$defs": {
        "value": {
            "anyOf": [
                {"type": ["string", "number", "boolean", "null"]},
                {"type": "array", "items": {"$ref": "#/$defs/value"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/value"}},
            ]
        }
    },
}
TREE = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "n": {"type": "integer"}}}
TWICE = {"allOf": [{"additionalProperties": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]}


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"left": value}
    return value


@pytest.mark.parametrize(
    ("schema", "value", "costly"),
    [
        ({}, {}, False),
        (doubled(5), {}, False),
        (doubled(40), {}, True),
        (doubled(2000), {}, True),
        (looking_again(4), {"a": 1}, False),
        (looking_again(30), {"a": 1}, True),
        (TREE, deep(50), False),
        (ANY_JSON, deep(8), False),
        (TWICE, deep(8), False),
        (TWICE, deep(40), True),
        (TREE, deep(100), True),
        ({"$ref": "#"}, {}, True),
        ({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/a"}}}, {"a": {"b": {}}}, False),
        ({"$dynamicRef": "#x", "$defs": {"y": {"$dynamicAnchor": "x", "type": "object"}}}, {}, False),
    ],
)
def test_what_would_take_forever_to_check_is_known_before(schema: dict[str, Any], value: Any, costly: bool):
    assert is_costly(schema, value) is costly
