"""The part of a schema that each vendor gets: what it supports, and nothing harmful."""

import copy
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.providers.supported_schema import (
    ANTHROPIC,
    GEMINI,
    LLAMA,
    OPENAI,
    Dialect,
    EnforcedSchema,
    openai_format,
    reduce_schema,
)

DIALECTS = {"anthropic": ANTHROPIC, "openai": OPENAI, "gemini": GEMINI, "llama": LLAMA}
PERSON: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "in full", "minLength": 1, "default": "x"},
        "age": {"type": "integer", "minimum": 0},
        "born": {"type": "string", "format": "date"},
        "mood": {"enum": ["good", "bad"]},
        "pets": {"type": "array", "items": {"$ref": "#/definitions/pet"}, "maxItems": 9},
    },
    "required": ["name", "age", "born", "mood", "pets"],
    "definitions": {
        "pet": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "dog"}},
                    "required": ["kind"],
                    "additionalProperties": False,
                },
                {"type": ["string", "null"], "maxLength": 9},
            ]
        },
        "unused": {"not": {}},
    },
}
DOG: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": {"const": "dog", "type": "string"}},
    "required": ["kind"],
    "additionalProperties": False,
}


def person(age: dict[str, Any], name: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Write the person as a dialect with typed enums and references does."""
    return {
        "title": "Person",
        "type": "object",
        "properties": {
            "name": {"description": "in full", "type": "string", **name},
            "age": {"type": "integer", **age},
            "born": {"type": "string", "format": "date"},
            "mood": {"enum": ["good", "bad"], "type": "string"},
            "pets": {"type": "array", "items": {"$ref": "#/$defs/pet"}, "maxItems": 9},
        },
        "required": ["name", "age", "born", "mood", "pets"],
        **more,
    }


def test_anthropic():
    made = person({}, {}, additionalProperties=False)
    made["properties"]["mood"] = {"enum": ["good", "bad"]}
    del made["properties"]["pets"]["maxItems"]
    dog = {**DOG, "properties": {"kind": {"const": "dog"}}}

    assert reduce_schema(PERSON, ANTHROPIC) == EnforcedSchema(
        made | {"$defs": {"pet": {"anyOf": [dog, {"anyOf": [{"type": "string"}, {"type": "null"}]}]}}},
        (
            "#/properties/name/minLength",
            "#/properties/age/minimum",
            "#/properties/pets/maxItems",
            "#/$defs/pet/oneOf/1/maxLength",
        ),
    )


def test_openai():
    made = person({"minimum": 0}, {}, additionalProperties=False)

    assert reduce_schema(PERSON, OPENAI) == EnforcedSchema(
        made | {"$defs": {"pet": {"anyOf": [DOG, {"type": ["string", "null"]}]}}},
        ("#/properties/name/minLength", "#/$defs/pet/oneOf/1/maxLength"),
    )


def test_gemini():
    dog = {**DOG, "properties": {"kind": {"enum": ["dog"], "type": "string"}}}

    assert reduce_schema(PERSON, GEMINI) == EnforcedSchema(
        person({"minimum": 0}, {}, **{"$defs": {"pet": {"anyOf": [dog, {"type": ["string", "null"]}]}}}),
        ("#/properties/name/minLength", "#/$defs/pet/oneOf/1/maxLength"),
    )


def test_llama():
    text = {"type": ["string", "null"], "maxLength": 9}

    assert reduce_schema(PERSON, LLAMA) == EnforcedSchema(
        person({"minimum": 0}, {"minLength": 1}, **{"$defs": {"pet": {"anyOf": [DOG, text]}}})
    )


# ---------------------------------------------------------------------------- what does harm

CLOSED = {"anthropic", "openai"}


@pytest.mark.parametrize(
    ("schema", "why", "where"),
    [
        ({"type": "object"}, "# takes keys that are not named", CLOSED),
        (
            {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": True},
            "# takes keys that are not named",
            CLOSED,
        ),
        (
            {"type": "object", "properties": {"m": {"additionalProperties": {}, "type": "object"}}},
            "#/properties/m takes keys that are not named",
            {"anthropic"},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "null"}}, "patternProperties": {"x": {}}},
            "# takes keys that are not named",
            CLOSED,
        ),
        (
            {"type": "object", "properties": {"a": {"type": "null"}}},
            '# has the optional property "a"',
            {"openai"},
        ),
        ({}, "# has no type", CLOSED),
        ({"type": "array"}, "# has items of any kind", CLOSED),
        ({"type": "array", "items": {"type": "null"}}, "# is not an object", {"openai"}),
        ({"type": "string"}, "# is not an object", {"openai"}),
        (
            {"type": "array", "prefixItems": [{"type": "null"}]},
            "# has items of different kinds",
            CLOSED,
        ),
        ({"enum": [[1]]}, "# is one of values that are not texts or numbers", set(DIALECTS)),
        ({"const": {"a": 1}}, "# is one of values that are not texts or numbers", set(DIALECTS)),
        (
            {"allOf": [{"type": "string"}, {"type": "string"}]},
            "# has to be several things at once",
            {"openai", "gemini", "llama"},
        ),
        ({"properties": {"a": False}, "required": ["a"]}, "#/properties/a allows nothing", set(DIALECTS)),
        (
            {"properties": {"a": {"$ref": "#/properties/b"}, "b": {}}, "required": ["a", "b"]},
            "#/properties/a refers to a place that is no definition",
            set(DIALECTS),
        ),
        (
            {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
            "_whole refers to itself",
            {"anthropic"},
        ),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}},
            "a refers to itself",
            {"anthropic"},
        ),
    ],
    ids=lambda value: json.dumps(value)[:50] if isinstance(value, dict) else "",
)
def test_a_vendor_is_told_nothing_where_that_would_change_the_meaning(
    schema: dict[str, Any], why: str, where: set[str]
):
    found = {name: reduce_schema(schema, dialect) for name, dialect in DIALECTS.items()}

    assert {name for name, each in found.items() if each == EnforcedSchema(None, why_not=why)} >= where
    assert {name for name, each in found.items() if each.why_not == why} == where


def test_what_is_lost_is_put_into_words():
    assert reduce_schema({"type": "string", "minLength": 2}, GEMINI).said_of("google") == (
        "google cannot enforce #/minLength; it is only checked afterwards",
    )
    assert reduce_schema({}, ANTHROPIC).said_of("claude") == (
        "claude cannot enforce the schema; the model only sees it: # has no type",
    )
    assert reduce_schema(PERSON, LLAMA).said_of("llama") == ()


# ---------------------------------------------------------------------------- single rules


@pytest.mark.parametrize(
    ("schema", "dialect", "made"),
    [
        ({"type": ["string"]}, ANTHROPIC, {"type": "string"}),
        ({"items": {"type": "null"}}, GEMINI, {"type": "array", "items": {"type": "null"}}),
        ({"enum": [1, "a", None]}, LLAMA, {"enum": [1, "a", None], "type": ["integer", "null", "string"]}),
        ({"const": True}, GEMINI, {"enum": [True], "type": "boolean"}),
        ({"allOf": [{"type": "string"}]}, LLAMA, {"type": "string"}),
        (
            {"allOf": [{"type": "string"}, {"type": "string"}]},
            ANTHROPIC,
            {"allOf": [{"type": "string"}, {"type": "string"}]},
        ),
        ({"type": "string", "format": "uri"}, ANTHROPIC, {"type": "string", "format": "uri"}),
        ({"type": "string", "format": "uri"}, LLAMA, {"type": "string"}),
        ({"type": "integer", "format": "date"}, LLAMA, {"type": "integer"}),
        ({"type": "array", "items": {"type": "null"}, "minItems": 1}, ANTHROPIC, None),
        (
            {"type": "array", "items": [{"type": "null"}]},
            GEMINI,
            {"type": "array", "prefixItems": [{"type": "null"}]},
        ),
        ({"type": "object", "additionalProperties": {"type": "null"}}, GEMINI, None),
        ({"type": "object", "additionalProperties": {}}, LLAMA, {"type": "object"}),
        ({"type": "object", "additionalProperties": False}, ANTHROPIC, "closed"),
        ({}, LLAMA, {}),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_a_part_is_said_in_the_vendors_words(schema: dict[str, Any], dialect: Dialect, made: Any):
    wanted = schema if made is None else made
    if made == "closed":
        wanted = {**schema, "properties": {}, "required": []}

    assert reduce_schema(schema, dialect) == EnforcedSchema(wanted)


@pytest.mark.parametrize(
    ("schema", "lost"),
    [
        ({"type": "integer", "minimum": 5000}, ["#/minimum"]),
        ({"type": "number", "minimum": 0.5}, ["#/minimum"]),
        ({"type": "string", "maxLength": 1001, "minLength": 1000}, ["#/maxLength"]),
        ({"type": "string", "pattern": "x", "minimum": 3}, ["#/pattern"]),
        ({"type": "object", "required": ["a"]}, ["#/required"]),
        ({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}]}, ["#/anyOf"]),
        ({"anyOf": [{"type": "null"}], "maximum": 3}, ["#/maximum"]),
        ({"$ref": "#/$defs/a", "minLength": 1, "$defs": {"a": {"type": "string"}}}, ["#/minLength"]),
        ({"enum": ["a"], "minLength": 1, "title": "x"}, ["#/minLength"]),
        ({"if": {"type": "string"}, "then": {"minLength": 1}}, ["#/if", "#/then"]),
    ],
    ids=str,
)
def test_what_a_grammar_cannot_say_is_lost(schema: dict[str, Any], lost: list[str]):
    found = reduce_schema(schema, LLAMA)

    assert found.schema is not None
    assert list(found.lost) == lost


def test_a_reference_to_the_whole_becomes_one_to_a_definition():
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/_whole"}},
        "required": ["next"],
    }

    assert reduce_schema(schema, GEMINI) == EnforcedSchema({**node, "$defs": {"_whole": node}})


def test_a_name_with_strange_characters_is_found():
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x~1y~0z"}},
        "$defs": {"x/y~z": {"type": "null"}},
    }

    assert reduce_schema(schema, GEMINI).schema == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x~1y~0z"}},
        "required": [],
        "$defs": {"x/y~z": {"type": "null"}},
    }


@pytest.mark.parametrize("ref", ["#/$defs/none", "#/$defs/bool"])
def test_a_reference_to_nothing_is_not_followed(ref: str):
    assert reduce_schema({"items": {"$ref": ref}, "$defs": {"bool": True}}, LLAMA).schema is None


def test_references_that_go_round_come_to_an_end():
    ring = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}

    for dialect in DIALECTS.values():
        reduce_schema({"$ref": "#/$defs/a", "$defs": ring}, dialect)
        reduce_schema({"$ref": "#"}, dialect)


# ---------------------------------------------------------------------------- OpenAI's own form


def test_a_strict_format():
    made = reduce_schema(PERSON, OPENAI).schema

    assert openai_format(PERSON, takes_any=False) == {"name": "Person", "schema": made, "strict": True}


def test_a_schema_that_is_only_shown():
    schema = {
        "$ref": "#/$defs/A",
        "$defs": {"A": {"title": "Ä b!", "type": "object", "properties": {"a": {}}}},
    }

    assert openai_format(schema, takes_any=False) == {
        "name": "__b_",
        "schema": {**schema["$defs"]["A"], "$defs": schema["$defs"]},
        "strict": False,
    }


def test_openai_takes_objects_only():
    schema = {"type": "array", "items": {"type": "string"}}

    assert openai_format(schema, takes_any=False) is None
    assert openai_format(schema, takes_any=True) == {"name": "output", "schema": schema, "strict": False}


# ---------------------------------------------------------------------------- any schema

NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.sampled_from(
    [
        {"type": "string", "maxLength": 3},
        {"type": "integer", "minimum": 2},
        {"type": ["number", "null"]},
        {"enum": ["x", 1]},
        {"const": None},
        {"type": "boolean"},
        {"$ref": "#/$defs/d"},
        {"$ref": "#"},
        {},
        True,
    ]
)


def bigger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(
            lambda parts, extra: {
                "type": "object",
                "properties": parts,
                "required": sorted(parts),
                "additionalProperties": extra,
            },
            st.dictionaries(NAMES, inner, max_size=3),
            st.booleans() | inner,
        )
    )


SCHEMAS = st.recursive(LEAVES, bigger, max_leaves=8).filter(lambda schema: isinstance(schema, dict))
VALUES = st.recursive(
    st.sampled_from([None, True, "x", "long text", 0, 1, 2.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
)


@given(SCHEMAS, st.sampled_from([GEMINI, LLAMA]), VALUES)
def test_what_is_told_allows_all_that_the_schema_allows(schema: Any, dialect: Dialect, value: Any):
    """An open dialect only ever loses something: no answer that would fit is kept from the model."""
    schema = {**schema, "$defs": {"d": {"type": "array", "items": {"type": "integer", "minimum": 1}}}}
    before = copy.deepcopy(schema)
    made = reduce_schema(schema, dialect).schema

    assert schema == before
    if made is not None and jsonschema_rs.is_valid(schema, value):
        assert jsonschema_rs.is_valid(made, value)


@given(SCHEMAS, VALUES)
def test_a_strict_schema_allows_nothing_that_is_lost_silently(schema: Any, value: Any):
    """Where nothing is lost, an answer that a closed dialect lets through fits the schema."""
    schema = {**schema, "$defs": {"d": {"type": "array", "items": {"type": "integer", "minimum": 1}}}}
    made = reduce_schema(schema, OPENAI)

    if made.schema is not None and not made.lost and jsonschema_rs.is_valid(made.schema, value):
        assert jsonschema_rs.is_valid(schema, value)
