"""JSON Schemas that constrain a model to valid tool calls, reduced to what llama.cpp supports.

llama.cpp turns a schema into a grammar and rejects some keywords (patterns, references, huge bounds). What is
dropped here is checked later, when the arguments are validated against the tool's full schema.
"""

from collections.abc import Sequence
from typing import Any

from bridle.core.schema import map_parts
from bridle.core.tool import ToolSpec

WEAK_ITEMS = 8
WEAK_TEXT_CHARS = 160  # otherwise a small model may generate up to its token limit
MAX_BOUND = 1000  # a grammar can repeat a rule this often
MAX_DEPTH = 12


def call_schema(tools: Sequence[ToolSpec], *, is_weak: bool = False) -> dict[str, Any]:
    """Return the schema of `{"tool": NAME, "arguments": {…}}` for any of the tools."""
    calls = [
        {
            "type": "object",
            "properties": {
                "tool": {"const": tool.name},
                "arguments": arguments_schema(tool, is_weak=is_weak),
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return calls[0] if len(calls) == 1 else {"anyOf": calls}


def arguments_schema(tool: ToolSpec, *, is_weak: bool = False) -> dict[str, Any]:
    """Return the schema of a tool's arguments; for a weak model only the required ones."""
    maker = _SchemaReducer(tool.parameters, WEAK_TEXT_CHARS if is_weak else None)
    made = maker.object(tool.parameters, 0)
    if is_weak:
        required = made["required"]
        made["properties"] = {name: made["properties"][name] for name in required}
    return made


def bound_schema(schema: Any) -> Any:
    """Return a schema with bounded strings and arrays, because a small model may never end them."""
    if not isinstance(schema, dict):
        return schema
    made = map_parts(schema, bound_schema)
    kind = made.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if "string" in kinds and "format" not in made:
        made |= _bounds(
            made, "minLength", "maxLength", default=max(WEAK_TEXT_CHARS, made.get("minLength", 0))
        )
    if "array" in kinds:
        made |= _bounds(made, "minItems", "maxItems", default=max(WEAK_ITEMS, made.get("minItems", 0)))
    return made


class _SchemaReducer:
    def __init__(self, root: dict[str, Any], max_chars: int | None) -> None:
        self._root = root
        self._max_chars = max_chars

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = _tables(schema.get("properties"))
        required = schema.get("required")
        return {
            "type": "object",
            "properties": {name: self.any(inner, depth + 1) for name, inner in properties.items()},
            "required": [name for name in required if name in properties]
            if isinstance(required, list)
            else [],
            "additionalProperties": False,
        }

    def any(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """Return a looser schema; an empty schema allows any value."""
        schema = self._resolved(schema)
        if depth > MAX_DEPTH:
            return {}
        for key in ("enum", "const"):
            if key in schema:
                return {key: schema[key]}
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return {
                    "anyOf": [self.any(inner, depth + 1) for inner in schema[key] if isinstance(inner, dict)]
                }
        kind = schema.get("type")
        if isinstance(kind, list):
            return {"anyOf": [self.any({**schema, "type": one}, depth + 1) for one in kind]}
        return self._plain(kind, schema, depth)

    def _plain(self, kind: Any, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        match kind:
            case "object" if _tables(schema.get("properties")):
                return self.object(schema, depth)
            case "array":
                return {"type": "array", "items": self.any(schema.get("items") or {}, depth + 1)} | _bounds(
                    schema, "minItems", "maxItems", default=WEAK_ITEMS if self._max_chars else None
                )
            case "string":
                return {"type": "string"} | _bounds(schema, "minLength", "maxLength", default=self._max_chars)
            case "integer":
                return {"type": "integer"} | _bounds(schema, "minimum", "maximum", default=None)
            case "object" | "number" | "boolean" | "null":
                return {"type": kind}
            case _:
                return {}

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        for _ in range(MAX_DEPTH):
            ref = schema.get("$ref")
            if not isinstance(ref, str):
                return schema
            found: Any = self._root
            for part in ref.removeprefix("#/").split("/"):
                found = found.get(part) if isinstance(found, dict) else None
            schema = found if isinstance(found, dict) else {}
        return {}


def _tables(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        return {}
    return {name: inner if isinstance(inner, dict) else {} for name, inner in value.items()}


def _bounds(schema: dict[str, Any], low: str, high: str, *, default: int | None) -> dict[str, int]:
    """Return the bounds that a grammar can express, with `default` as the upper limit."""
    kept = {key: schema[key] for key in (low, high) if _is_small(schema.get(key))}
    if default is not None:
        kept[high] = min(kept.get(high, default), default)
        if kept.get(low, 0) > kept[high]:
            del kept[low]
    return kept


def _is_small(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -MAX_BOUND <= value <= MAX_BOUND
