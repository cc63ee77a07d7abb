"""Estimate how long a JSON Schema validator takes to explain why a value fits none of a schema's choices.

To explain that, a validator checks every choice to its end, and the choices inside it:

```
{"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}, "minItems": 1}]}       2 ** depth steps
```

That can take practically forever, so the effort is estimated first.
"""

from collections.abc import Iterable
from typing import Any

from bridle.core.schema import SINGLES, subschemas

_HERE = ("not", "if", "then", "else")
_BELOW = tuple(key for key in SINGLES if key not in _HERE)


def has_choices(schema: dict[str, Any]) -> bool:
    """Return True if a schema contains `anyOf` or `oneOf`."""
    return any("anyOf" in part or "oneOf" in part for _, part in subschemas(schema))


def count_values(value: Any, most: int) -> int:
    """Count the values in a JSON value, itself included; stop at `most`."""
    waiting, counted = [value], 0
    while waiting and counted < most:
        counted += 1
        waiting += _inside(waiting.pop())
    return counted


class SchemaEffort:
    """Estimate how many subschemas a validator checks along one path into a value."""

    def __init__(self, schema: dict[str, Any], most: int) -> None:
        self._schema = schema
        self._most = most
        """Upper bound of every estimate; also the estimate for what cannot be known."""
        self._known: dict[tuple[int, int], int] = {}

    def at(self, depth: int) -> int:
        """Return the estimate for a value of this nesting depth."""
        try:
            return self._of(self._schema, depth)
        except RecursionError:
            return self._most

    def _of(self, part: Any, depth: int) -> int:
        if not isinstance(part, dict) or depth < 0:
            return 0
        key = (id(part), depth)
        if key not in self._known:
            self._known[key] = 0  # a cycle that goes no deeper is counted once
            self._known[key] = min(self._most, 1 + self._here(part, depth) + self._below(part, depth - 1))
        return self._known[key]

    def _here(self, part: dict[str, Any], depth: int) -> int:
        """Sum the estimates of the subschemas that apply to the value itself."""
        if "$dynamicRef" in part or "$recursiveRef" in part:
            return self._most
        parts = [part.get(key) for key in _HERE]
        for key in ("allOf", "anyOf", "oneOf", "dependentSchemas"):
            parts += _inside(part.get(key))
        if "$ref" in part:
            target = _place(self._schema, part["$ref"])
            if not isinstance(target, dict | bool):
                return self._most
            parts.append(target)
        return sum(self._of(inner, depth) for inner in parts)

    def _below(self, part: dict[str, Any], depth: int) -> int:
        """Sum the estimates for one value inside it; of the named subschemas only one applies to it."""
        named = [_inside(part.get("properties")), _inside(part.get("prefixItems"))]
        if isinstance(part.get("items"), list):
            named.append(part["items"])
        others = [*_inside(part.get("patternProperties")), *(part.get(key) for key in _BELOW)]
        most = sum(max((self._of(inner, depth) for inner in parts), default=0) for parts in named)
        return most + sum(self._of(inner, depth) for inner in others)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _place(schema: Any, ref: Any) -> Any:
    """Return the target of a reference; None if it is not a JSON pointer into the document."""
    if not isinstance(ref, str) or not f"{ref}/".startswith("#/"):
        return None
    for step in ref.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list):
            schema = schema[int(name)] if name.isdecimal() and int(name) < len(schema) else None
        else:
            schema = schema.get(name) if isinstance(schema, dict) else None
    return schema
