"""The JSON Schema of a structured answer: parse it, check it, and walk through its subschemas.

```
{"type": "object", …}                                                        the schema itself
{"schema": {…}, "name": …, "strict": …, "compat": "lossy" | "strict"}        a wrapper with options
```

An object is a wrapper if it has `schema` and only keys of this list, or has `"format": "meerkat_v1"`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from bridle.core.errors import UsageError

Compat = Literal["lossy", "strict"]

MAX_SCHEMA_BYTES = 256 * 1024
MAX_SCHEMA_DEPTH = 64
MAX_NAME_CHARS = 64
FORMAT = "meerkat_v1"
_WRAPPER_KEYS = frozenset({"schema", "name", "strict", "compat", "format"})

MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value is an object of schemas by name."""
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
"""Keywords whose value is a list of schemas; `items` could be one up to draft 2019-09."""
SINGLES = (
    "items additionalItems additionalProperties unevaluatedItems unevaluatedProperties contains "
    "propertyNames not if then else contentSchema"
).split()
"""Keywords whose value is one schema."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
MAX_CHECKS = 20_000_000
"""Limit for validating one value; takes a little over a second."""

_QUOTED = re.compile(rb"%([0-9A-Fa-f]{2})")
_HERE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
_NAMES_ONLY = ("$defs", "definitions")
_LOOKS_AGAIN = ("unevaluatedItems", "unevaluatedProperties")
COSTLY = (*REFERENCES, *_LOOKS_AGAIN)
"""Without any of these keywords, no value is costly to validate."""


class OutputSchema(Struct, frozen=True):
    """The schema that an answer must fit, and what to do if a vendor cannot enforce all of it."""

    schema: dict[str, Any]
    strict: bool = False
    """True if objects have exactly the properties that the schema names."""
    compat: Compat = "lossy"
    """What happens if a vendor cannot enforce a part: `lossy` gives a warning, `strict` an error."""

    @classmethod
    def of(cls, given: dict[str, Any]) -> "OutputSchema":
        """Parse and check a schema or a wrapper; raises UsageError."""
        _check_size(given)
        wrapped = given if _is_wrapper(given) else {"schema": given}
        if not isinstance(wrapped["schema"], dict):
            raise UsageError("output schema: the schema must be a JSON object")
        try:
            found = msgspec.convert(wrapped, _Wrapper)
        except msgspec.ValidationError as error:
            raise UsageError(f"output schema: {error}") from None
        schema = found.schema
        for where, part in subschemas(schema):
            _check_part(where, part)
        _check_satisfiable(schema)
        if found.strict:
            schema = forbid_extra_properties(schema)
        if found.name:
            schema = {"title": found.name[:MAX_NAME_CHARS], **schema}
        return cls(schema, found.strict, found.compat)


class _Wrapper(Struct, frozen=True):
    schema: dict[str, Any]
    name: str | None = None
    strict: bool = False
    compat: Compat = "lossy"


def _is_wrapper(given: dict[str, Any]) -> bool:
    return "schema" in given and (given.get("format") == FORMAT or given.keys() <= _WRAPPER_KEYS)


def with_compat(given: dict[str, Any], compat: Compat) -> dict[str, Any]:
    """Return a schema or wrapper as a wrapper with this `compat`."""
    wrapped = given if _is_wrapper(given) else {"schema": given, "format": FORMAT}
    return {**wrapped, "compat": compat}


# ---------------------------------------------------------------------------- walking


def subschemas(schema: dict[str, Any], where: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every subschema with its JSON pointer, the schema itself first; plain data is not a schema."""
    waiting = [(where, schema)]
    while waiting:
        place, part = waiting.pop()
        yield place, part
        waiting += [(inner, found) for inner, found in _parts(place, part) if isinstance(found, dict)]


def _parts(where: str, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            yield from ((f"{where}/{key}/{_escaped(name)}", part) for name, part in value.items())
        elif key in LISTS and isinstance(value, list):
            yield from ((f"{where}/{key}/{place}", part) for place, part in enumerate(value))
        elif key in SINGLES:
            yield f"{where}/{key}", value


def forbid_extra_properties(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with all named properties required and all others forbidden."""

    def close(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        made = map_parts(part, close)
        properties = made.get("properties")
        if isinstance(properties, dict) and not made.get("additionalProperties"):
            made |= {"required": list(properties), "additionalProperties": False}
        return made

    made: dict[str, Any] = close(schema)
    return made


def map_parts(schema: dict[str, Any], change: Any) -> dict[str, Any]:
    """Return a schema with `change` applied to each direct subschema."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            made[key] = {name: change(part) for name, part in value.items()}
        elif key in LISTS and isinstance(value, list):
            made[key] = [change(part) for part in value]
        else:
            made[key] = change(value) if key in SINGLES else value
    return made


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


# ---------------------------------------------------------------------------- references


class References:
    """Resolve the references in a schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._anchors: dict[Any, dict[str, Any]] = {}
        for _, part in subschemas(schema):
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(part.get(key), str):
                    self._anchors.setdefault(part[key], part)

    def find(self, ref: Any) -> Any:
        """Return the target of a reference into the same document, a schema or a boolean; None if missing."""
        if not isinstance(ref, str) or not ref.startswith("#"):
            return None
        if not ref.startswith("#/"):
            return self._schema if ref == "#" else self._anchors.get(ref[1:])
        place: Any = self._schema
        for step in _unquoted(ref[2:]).split("/"):
            place = _step(place, step.replace("~1", "/").replace("~0", "~"))
        return place if isinstance(place, dict | bool) else None


def _unquoted(text: str) -> str:
    data = text.encode(errors="replace")
    return _QUOTED.sub(lambda found: bytes([int(found[1], 16)]), data).decode(errors="replace")


def _step(place: Any, name: str) -> Any:
    if isinstance(place, dict):
        return place.get(name)
    is_number = name.isascii() and name.isdecimal() and len(name) < 10 and name == str(int(name))
    return place[int(name)] if isinstance(place, list) and is_number and int(name) < len(place) else None


def is_costly(schema: dict[str, Any], value: Any) -> bool:
    """Return True if validating a value could take too long: with references, a small schema can be huge."""
    if not any(key in part for _, part in subschemas(schema) for key in COSTLY):
        return False
    try:
        size = len(msgspec.json.encode(value))
        if is_deeper(value, MAX_SCHEMA_DEPTH):
            return True
        return _Checks(schema).count(schema, depth_of(value)) * size > MAX_CHECKS
    except (RecursionError, ValueError, OverflowError):
        return True


class _Checks:
    """Count how often a validator may check one position of a value of some depth."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._references = References(schema)
        self._known: dict[tuple[int, int], int] = {}

    def count(self, part: Any, depth: int) -> int:
        if not isinstance(part, dict):
            return 1
        key = (id(part), depth)
        if key not in self._known:
            self._known[key] = MAX_CHECKS + 1  # a reference cycle at one position never ends
            again = 3 if any(name in part for name in _LOOKS_AGAIN) else 1
            here = sum(self.count(one, depth) for one in self._here(part))
            below = sum(self.count(one, depth - 1) for one in _below(part)) if depth else 0
            properties = part.get("properties")
            if depth and isinstance(properties, dict):  # each applies to another position
                below += max((self.count(one, depth - 1) for one in properties.values()), default=0)
            self._known[key] = 1 + again * here + below
        return self._known[key]

    def _here(self, part: dict[str, Any]) -> Iterator[Any]:
        yield from (self._references.find(part[key]) for key in REFERENCES if key in part)
        yield from (found for name in _HERE for _, found in _parts("", _only(part, name)))


def _below(part: dict[str, Any]) -> Iterator[Any]:
    for name in part:
        if name not in (*_HERE, *_NAMES_ONLY, "properties"):
            yield from (found for _, found in _parts("", _only(part, name)))


def _only(part: dict[str, Any], name: str) -> dict[str, Any]:
    return {name: part[name]} if name in part else {}


# ---------------------------------------------------------------------------- what must not be there


def _check_size(given: dict[str, Any]) -> None:
    if is_deeper(given, MAX_SCHEMA_DEPTH):
        raise UsageError(f"output schema: it is nested deeper than {MAX_SCHEMA_DEPTH} levels")
    try:
        size = len(msgspec.json.encode(given))
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"output schema: it is not JSON: {error}") from None
    if size > MAX_SCHEMA_BYTES:
        raise UsageError(
            f"output schema: it has {size:,} bytes, {MAX_SCHEMA_BYTES:,} are allowed",
            hint="remove what the model does not need",
        )


def is_deeper(value: Any, most: int) -> bool:
    """Return True if objects and arrays are nested more than `most` levels deep."""
    level = [value]
    for _ in range(most):
        level = [inner for item in level for inner in _inside(item)]
    return any(isinstance(item, dict | list) for item in level)


def depth_of(value: Any) -> int:
    """Return the nesting depth of a value, which must be at most `MAX_SCHEMA_DEPTH`."""
    return next(depth for depth in range(MAX_SCHEMA_DEPTH + 1) if not is_deeper(value, depth))


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _check_part(where: str, part: dict[str, Any]) -> None:
    for key in REFERENCES:
        ref = part.get(key)
        if isinstance(ref, str) and not ref.startswith("#"):
            raise UsageError(
                f"output schema: {where}/{key} is {ref[:200]!r}, which is not in the document itself",
                hint="put it into $defs and refer to it as #/$defs/NAME",
            )
    if where != "#" and isinstance(part.get("$id"), str) and not part["$id"].startswith("#"):
        raise UsageError(f"output schema: {where}/$id starts another document; only one is allowed")


def _check_satisfiable(schema: dict[str, Any]) -> None:
    """Raise UsageError for a schema that obviously no value can fit."""
    impossible = (schema.get("enum") == [], schema.get("not") in ({}, True), schema.get("anyOf") == [False])
    if any(impossible):
        raise UsageError("output schema: no value can match it")
