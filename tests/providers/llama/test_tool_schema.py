"""Schemas for servers: grammars get what they can follow; the argument check covers the rest."""

from typing import Any

import pytest

from bridle.core.tool import ToolSpec
from bridle.providers.llama.tool_schema import arguments_schema, bound_schema, call_schema

CLOSED = {"additionalProperties": False}


def tool(properties: dict[str, Any], required: list[str], **more: Any) -> ToolSpec:
    return ToolSpec("t", "", {"type": "object", "properties": properties, "required": required, **more})


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"type": "string", "pattern": "x", "format": "uri"}, {"type": "string"}),
        ({"type": "string", "maxLength": 20}, {"type": "string", "maxLength": 20}),
        ({"type": "string", "maxLength": 10**6}, {"type": "string"}),
        ({"type": "integer", "minimum": 1, "maximum": 10**9}, {"type": "integer", "minimum": 1}),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "array", "items": {"type": "number"}}, {"type": "array", "items": {"type": "number"}}),
        ({"enum": ["a", "b"], "type": "string"}, {"enum": ["a", "b"]}),
        ({"oneOf": [{"const": 1}, {"type": "boolean"}]}, {"anyOf": [{"const": 1}, {"type": "boolean"}]}),
        ({"type": "object"}, {"type": "object"}),
        ({"$ref": "#/$defs/n"}, {"type": "integer"}),
        ({"$ref": "#/$defs/loop"}, {}),
        ({"$ref": "http://elsewhere"}, {}),
        ({"allOf": []}, {}),
        ("nonsense", {}),
    ],
)
def test_one_argument(schema: Any, made: dict[str, Any]) -> None:
    defs = {"n": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}

    found = arguments_schema(tool({"x": schema}, ["x"], **{"$defs": defs}))

    assert found == {"type": "object", "properties": {"x": made}, "required": ["x"], **CLOSED}


def test_a_weak_model_is_asked_for_short_required_arguments_only() -> None:
    spec = tool({"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "array"}}, ["c", "b"])

    found = arguments_schema(spec, is_weak=True)

    assert found["properties"] == {
        "c": {"type": "array", "items": {}, "maxItems": 8},
        "b": {"type": "string", "maxLength": 160},
    }


def test_a_schema_that_contains_itself_ends() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}, "required": []}

    assert arguments_schema(tool({"x": {"$ref": "#/$defs/tree"}}, [], **{"$defs": {"tree": tree}}))


def test_a_call_names_one_of_the_tools() -> None:
    a, b = tool({}, []), ToolSpec("b", "", {})
    arguments = {"type": "object", "properties": {}, "required": [], **CLOSED}

    def call(name: str) -> dict[str, Any]:
        properties = {"tool": {"const": name}, "arguments": arguments}
        return {"type": "object", "properties": properties, "required": ["tool", "arguments"], **CLOSED}

    assert call_schema([a]) == call("t")
    assert call_schema([a, b]) == {"anyOf": [call("t"), call("b")]}


def test_texts_and_lists_of_a_small_model_come_to_an_end() -> None:
    text: dict[str, Any] = {"type": "string"}

    assert bound_schema(
        {
            "properties": {
                "a": text,
                "b": {"type": ["string", "null"], "maxLength": 5},
                "c": {"type": "string", "minLength": 500},
                "d": {"type": "string", "format": "date"},
                "e": {"type": "array", "items": text, "minItems": 20},
                "f": {"type": "array", "maxItems": 3},
                "g": {"enum": ["x"]},
                "h": True,
            },
            "$defs": {"x": text},
        }
    ) == {
        "properties": {
            "a": {"type": "string", "maxLength": 160},
            "b": {"type": ["string", "null"], "maxLength": 5},
            "c": {"type": "string", "minLength": 500, "maxLength": 500},
            "d": {"type": "string", "format": "date"},
            "e": {
                "type": "array",
                "items": {"type": "string", "maxLength": 160},
                "minItems": 20,
                "maxItems": 20,
            },
            "f": {"type": "array", "maxItems": 3},
            "g": {"enum": ["x"]},
            "h": True,
        },
        "$defs": {"x": {"type": "string", "maxLength": 160}},
    }
