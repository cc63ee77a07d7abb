"""Tools as functions: valid and unique Python names, and the way back."""

import ast
import keyword
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.core.tool import ToolSpec
from bridle.kernel.tool_functions import (
    encode_definitions,
    find_tool,
    parameters,
    python_name,
    signature,
    to_tool_args,
)


def tool(name: str, properties: Any = None, required: Any = ()) -> ToolSpec:
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return ToolSpec(name, f"What {name} does.", schema)


def test_a_guest_is_told_names_types_and_what_must_be_given():
    spec = tool(
        "grep",
        {
            "path": {"type": "string"},
            "pattern": {"type": "string", "description": "A regular expression."},
            "limit": {"type": "integer"},
        },
        ["pattern"],
    )

    assert msgspec.json.decode(encode_definitions([spec])) == [
        {
            "name": "grep",
            "description": "What grep does.",
            "params": [
                {"name": "pattern", "type": "str", "required": True, "description": "A regular expression."},
                {"name": "path", "type": "str", "required": False},
                {"name": "limit", "type": "int", "required": False},
            ],
            "returns": "str",
        }
    ]
    assert signature(spec) == "grep(pattern: str, path: str = None, limit: int = None) -> str"


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "string"}, "str"),
        ({"type": "integer"}, "int"),
        ({"type": "number"}, "float"),
        ({"type": "boolean"}, "bool"),
        ({"type": "array", "items": {}}, "list"),
        ({"type": "object"}, "dict"),
        ({"type": ["string", "null"]}, "str"),
        ({"type": ["string", "integer"]}, "any"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "int"),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, "any"),
        ({"enum": [1, "a"]}, "any"),
        ({"type": 7}, "any"),
        (True, "any"),
    ],
)
def test_types(schema: Any, wanted: str):
    assert signature(tool("t", {"p": schema}, ["p"])) == f"t(p: {wanted}) -> str"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("mcp__a-b__c", "mcp__a_b__c"),
        ("a.b", "a_b"),
        ("import", "import_"),
        ("print", "print_"),
        ("message", "message_"),
        ("3d", "_3d"),
        ("größe", "gr__e"),
        ("", "_"),
    ],
)
def test_names_that_python_does_not_take_are_changed(name: str, wanted: str):
    assert python_name(name) == wanted


def test_names_that_become_equal_stay_apart():
    specs = [tool("a-b"), tool("a.b"), tool("a_b")]

    assert [find_tool(specs, name) for name in ("a_b_2", "a_b_3", "a_b")] == specs
    assert [one["name"] for one in msgspec.json.decode(encode_definitions(specs))] == [
        "a_b_2",
        "a_b_3",
        "a_b",
    ]


def test_a_name_that_nobody_has_is_an_error():
    with pytest.raises(ToolError, match="unknown tool nobody"):
        find_tool([tool("a")], "nobody")


def test_arguments_get_their_names_back():
    spec = tool(
        "copy", {"from": {"type": "string"}, "max-size": {"type": "integer"}, "to": {"type": "string"}}
    )

    assert signature(spec) == "copy(from_: str = None, max_size: int = None, to: str = None) -> str"
    assert to_tool_args(spec, {"from_": "a", "max_size": 1, "to": "b"}) == {
        "from": "a",
        "max-size": 1,
        "to": "b",
    }


def test_parameters_keep_names_that_are_builtins():
    properties = {
        name: {"type": "string"} for name in ("format", "id", "type", "message", "class", "__debug__")
    }
    spec = tool("show", properties)

    assert [one.name for one in parameters(spec)] == [
        *("format", "id", "type", "message"),
        *("class_", "__debug___"),
    ]


@pytest.mark.parametrize("parameters", [{}, {"properties": []}, {"properties": {"a": 1}, "required": "a"}])
def test_a_schema_that_is_none_makes_no_trouble(parameters: dict[str, Any]):
    assert signature(ToolSpec("t", "", parameters)).startswith("t(")


@given(
    st.lists(st.text(max_size=8), unique=True, max_size=6),
    st.lists(st.text(max_size=8), unique=True, max_size=6),
)
def test_whatever_the_names_the_functions_can_be_defined_and_found(names: list[str], params: list[str]):
    specs = [tool(name, {name: {"type": "string"} for name in params}, params[:2]) for name in names]

    shown = [one["name"] for one in msgspec.json.decode(encode_definitions(specs))]

    assert [find_tool(specs, name) for name in shown] == specs
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in shown)
    for spec in specs:
        ast.parse(f"def {signature(spec)}: ...")
        given = {
            one["name"]: one["name"] for one in msgspec.json.decode(encode_definitions([spec]))[0]["params"]
        }
        assert sorted(to_tool_args(spec, given)) == sorted(params)
