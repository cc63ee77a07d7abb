"""Typed results in Python: a JSON Schema of a type, and a value of that type out of a run's payload.

```python
schema = schema_of(Invoice)              # RunOptions(output_schema=schema)
invoice = value_as(Invoice, payload)     # RunEnded.structured
```

A type is a dataclass, a TypedDict, a NamedTuple, a msgspec Struct, a pydantic model, or anything built of
them and of Python's own: list, dict, tuple, Literal, Enum, unions, Optional, Annotated. pydantic is never
imported here: its models know how to describe and to check themselves.
"""

from typing import Any, TypeVar, cast

import msgspec

from bridle.core.errors import UsageError
from bridle.core.schema import map_parts

T = TypeVar("T")

MAX_PROBLEMS = 5


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type, its objects closed to other properties; raises UsageError."""
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
    """Return a payload as a value of a type; raises UsageError saying what does not fit, and where."""
    try:
        if _describes_itself(kind):
            return cast("T", kind.model_validate(payload))  # type: ignore[attr-defined]  # it was asked for it
        return msgspec.convert(payload, kind, dec_hook=_decode)
    except ValueError as error:  # what msgspec and pydantic raise are both of this kind
        raise UsageError(f"the value is no {_name(kind)}: {_problems(error)}") from error
    except (TypeError, NameError) as error:
        raise UsageError(f"{_name(kind)} cannot be made of JSON: {error}") from error


def _describes_itself(kind: Any) -> bool:
    """Tell whether a type is a pydantic model, by what it can do."""
    return isinstance(kind, type) and hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")


def _description(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a model's schema; what it refers to goes to the definitions of the whole."""
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
    """Put what pydantic says into one line; msgspec's words are one already."""
    if not hasattr(error, "errors"):
        return str(error)
    problems = [
        f"{'.'.join(map(str, found['loc'])) or 'the whole'}: {found['msg']}" for found in error.errors()
    ]
    return "; ".join(problems[:MAX_PROBLEMS])


def _last_line(error: Exception) -> str:
    """Return the line that names the type; what msgspec says before it is for those who extend msgspec."""
    return str(error).strip().rpartition("\n")[2]


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", None) or str(kind)
