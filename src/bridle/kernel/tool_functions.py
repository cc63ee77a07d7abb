"""Tools as Python functions: their names, parameters and types as the guest sees them.

Python allows fewer names than JSON: `mcp__a-b__c` becomes `mcp__a_b__c`, a parameter `from` becomes `from_`.
Functions also leave the names of builtins alone: a tool `print` becomes `print_`. Parameters need not.
`find` and `to_tool_args` reverse this.
"""

import builtins
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pkgutil import get_data
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.codeact import PYTHON, describe_tools
from bridle.core.errors import ToolError
from bridle.core.tool import ToolSpec

RETURNS = "str"  # a tool's result is its text

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}
_ANY = "any"
_OURS = frozenset({"ToolError", "asyncio", "exit", "help", "json", "list_tools", "message", "quit"})
_SYNTAX = frozenset(keyword.kwlist) | {"__debug__"}
_TAKEN = _OURS | _SYNTAX | frozenset(dir(builtins))
_NO_NAME = re.compile(r"[^0-9A-Za-z_]")


class Parameter(Struct, frozen=True):
    """A parameter of a tool's Python function."""

    name: str
    real: str
    """Its name in the tool's schema."""
    type: str
    required: bool
    description: str = ""


def encode_definitions(specs: Sequence[ToolSpec]) -> str:
    """Return the tools' definitions for a guest, as JSON text."""
    found = [
        {
            "name": name,
            "description": spec.description,
            "params": [_told(one) for one in parameters(spec)],
            "returns": RETURNS,
        }
        for name, spec in _named(specs).items()
    ]
    return msgspec.json.encode(found).decode()


def find_tool(specs: Sequence[ToolSpec], python_name: str) -> ToolSpec:
    """Return the tool behind a Python function name; raises ToolError if there is none."""
    found = _named(specs).get(python_name)
    if found is None:
        raise ToolError(f"unknown tool {python_name}")
    return found


def to_tool_args(spec: ToolSpec, args: dict[str, Any]) -> dict[str, Any]:
    """Return a function's arguments under the tool's own parameter names."""
    names = {one.name: one.real for one in parameters(spec)}
    return {names.get(name, name): value for name, value in args.items()}


def signature(spec: ToolSpec) -> str:
    """Return the function's signature, such as `name(p: str, q: int = None) -> str`."""
    shown = [
        f"{one.name}: {one.type}" if one.required else f"{one.name}: {one.type} = None"
        for one in parameters(spec)
    ]
    return f"{python_name(spec.name)}({', '.join(shown)}) -> {RETURNS}"


def python_name(name: str) -> str:
    """Return a valid function name that hides no keyword, builtin or name of the guest."""
    return _identifier(name, _TAKEN)


def _identifier(name: str, taken: Collection[str] = _SYNTAX) -> str:
    plain = _NO_NAME.sub("_", name) or "_"
    if plain[0].isdigit():
        plain = f"_{plain}"
    return f"{plain}_" if plain in taken else plain


def parameters(spec: ToolSpec) -> tuple[Parameter, ...]:
    """Return the parameters of a tool's function, required ones first."""
    properties = spec.parameters.get("properties")
    required = spec.parameters.get("required")
    schemas: dict[str, Any] = properties if isinstance(properties, dict) else {}
    needed = set(required) if isinstance(required, list) else set()
    names = _unique(schemas, _identifier)
    found = [
        Parameter(name, real, _type(schemas[real]), real in needed, _description(schemas[real]))
        for name, real in names.items()
    ]
    return tuple(sorted(found, key=lambda one: not one.required))


def _told(one: Parameter) -> dict[str, Any]:
    told = {"name": one.name, "type": one.type, "required": one.required}
    return {**told, "description": one.description} if one.description else told


def _named(specs: Sequence[ToolSpec]) -> dict[str, ToolSpec]:
    by_name = {spec.name: spec for spec in specs}
    return {name: by_name[real] for name, real in _unique(by_name, python_name).items()}


def _unique(names: Iterable[str], to_name: Callable[[str], str]) -> dict[str, str]:
    """Return the original names by their Python name; names that are valid already stay the same."""
    real = list(dict.fromkeys(names))
    found = {name: name for name in real if to_name(name) == name}
    for name in real:
        wanted = to_name(name)
        if wanted == name:
            continue
        free, number = wanted, 2
        while free in found:
            free, number = f"{wanted}_{number}", number + 1
        found[free] = name
    by_real = {name: free for free, name in found.items()}
    return {by_real[name]: name for name in real}


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return _ANY
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    named = {_TYPES[one] for one in kinds if isinstance(one, str) and one in _TYPES}
    if len(named) == 1:
        return named.pop()
    for choices in (schema.get("anyOf"), schema.get("oneOf")):
        if isinstance(choices, list):
            found = {_type(one) for one in choices if not _is_null(one)}
            return found.pop() if len(found) == 1 else _ANY
    return _ANY


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _description(schema: Any) -> str:
    text = schema.get("description") if isinstance(schema, dict) else ""
    return text if isinstance(text, str) else ""


# ---------------------------------------------------------------------------- prompt
# The texts that explain code mode and the tool `python` to a model.


def code_prompt(specs: Sequence[ToolSpec], more: Sequence[ToolSpec] = ()) -> str:
    """Return the instructions for code mode and the available functions; those of `more` are only named."""
    others = [spec for spec in specs if spec.name != PYTHON]
    tools = describe_tools(others, signature)
    if more:
        tools += f"\n\nAlso, described by `help(name)`: {', '.join(python_name(spec.name) for spec in more)}"
    return _text("code_mode.md").format(tools=tools)


def describe_python() -> str:
    """Return the description of the tool `python`."""
    return _text("python.md")


@cache
def _text(name: str) -> str:
    data = get_data(__name__, name)
    assert data is not None
    return data.decode().strip()
