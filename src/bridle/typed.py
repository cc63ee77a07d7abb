"""Typed results: turn a Python type into a JSON Schema, and a run's payload into a value of that type.

```python
schema = schema_of(Invoice)              # RunOptions(output_schema=schema)
invoice = value_as(Invoice, payload)     # RunEnded.structured
```

A type is a dataclass, a TypedDict, a NamedTuple, a msgspec Struct, a pydantic model, or anything built from
them and built-in types: list, dict, tuple, Literal, Enum, unions, Optional, Annotated. This module never
imports pydantic: it calls the methods of its models (`model_json_schema`, `model_validate`).
"""

from typing import Any, TypeVar, cast

import msgspec

from bridle.core.errors import UsageError
from bridle.core.schema import map_parts

T = TypeVar("T")

MAX_PROBLEMS = 5


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type; its objects allow no other properties. Raises UsageError."""
    definitions: dict[str, Any] = {}

    def describe(inner: Any) -> dict[str, Any]:
        if not _describes_itself(inner):
            raise NotImplementedError
        return _description(inner, definitions)

    try:
        schema = (
            describe(kind) if _describes_itself(kind) else msgspec.json.schema(kind, schema_hook=describe)
        )
    except (TypeError, NameError) as error:
        raise UsageError(f"{_name(kind)} has no JSON Schema: {_last_line(error)}") from error
    if definitions:
        schema = {**schema, "$defs": {**schema.get("$defs", {}), **definitions}}
    closed: dict[str, Any] = _closed(schema)
    return closed


def value_as(kind: type[T], payload: Any) -> T:
    """Convert a payload to a value of a type; raises UsageError that says what does not fit, and where."""
    try:
        if _describes_itself(kind):
            return cast("T", kind.model_validate(payload))  # type: ignore[attr-defined]  # checked above
        return msgspec.convert(payload, kind, dec_hook=_decode)
    except ValueError as error:  # the base of msgspec's and of pydantic's validation error
        raise UsageError(f"the value is no {_name(kind)}: {_problems(error)}") from error
    except (TypeError, NameError) as error:
        raise UsageError(f"{_name(kind)} cannot be made of JSON: {error}") from error


def _describes_itself(kind: Any) -> bool:
    """Return True for a pydantic model, recognized by its methods."""
    return isinstance(kind, type) and hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")


def _description(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a model's schema; its `$defs` move to `definitions`, those of the whole schema."""
    schema: dict[str, Any] = kind.model_json_schema(ref_template=f"#/$defs/{kind.__name__}.{{model}}")
    for name, part in schema.pop("$defs", {}).items():
        place = f"{kind.__name__}.{name}"
        if definitions.setdefault(place, part) != part:
            raise TypeError(f"two models are called {place}")
    return schema


def _decode(kind: Any, value: Any) -> Any:
    if not _describes_itself(kind):
        raise NotImplementedError
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise ValueError(_problems(error)) from error


def _closed(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    made = map_parts(schema, _closed)
    if isinstance(made.get("properties"), dict):
        made.setdefault("additionalProperties", False)
    return made


def _problems(error: ValueError) -> str:
    """Join pydantic's messages into one line; a msgspec message already is one line."""
    if not hasattr(error, "errors"):
        return str(error)
    problems = [
        f"{'.'.join(map(str, found['loc'])) or 'the whole'}: {found['msg']}" for found in error.errors()
    ]
    return "; ".join(problems[:MAX_PROBLEMS])


def _last_line(error: Exception) -> str:
    """Return the last line, which names the type; msgspec's lines before it are for authors of hooks."""
    return str(error).strip().rpartition("\n")[2]


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", None) or str(kind)
