"""Check the arguments of a tool call against the tool's JSON Schema, with errors that a model can act on.

A near miss with only one possible meaning is corrected: `"2"` for an integer, `"true"` for a boolean,
JSON text for an array or an object, null for an optional argument.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from jsonschema_rs import ValidationError, Validator, validator_for
from msgspec.json import encode

from bridle.core.codeact import FENCED
from bridle.core.errors import ToolError
from bridle.core.messages import ToolCall
from bridle.core.schema import COSTLY, is_costly
from bridle.core.tool import ToolSpec

MAX_PROBLEMS = 5
MAX_SHOWN = 60  # characters of a value in an error message

_KINDS = {
    bool: "boolean",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    type(None): "null",
}
_ARTICLES = {"array": "an array", "integer": "an integer", "object": "an object", "null": "null"}


def validate_arguments(spec: ToolSpec, args: dict[str, Any]) -> None:
    """Check arguments without correcting them; raises ToolError."""
    if problems := _problems(spec, args):
        raise _refusal(spec, args, problems)


def fit_arguments(spec: ToolSpec, args: dict[str, Any]) -> dict[str, Any]:
    """Return valid arguments, with near misses corrected; raises ToolError."""
    if not _problems(spec, args):
        return args
    fitted: dict[str, Any] = _fit(args, spec.parameters)
    validate_arguments(spec, fitted)
    return fitted


def json_error(call: ToolCall) -> ToolError:
    """Return the error for a call whose arguments are not a JSON object, or whose code block was cut off."""
    if call.meta.get(FENCED):
        return ToolError(
            f"{call.name}: the reply was cut off inside a code block; none of its code was run",
            hint="write less code at a time",
        )
    try:
        value = json.loads(call.invalid, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        before = call.invalid[max(0, error.pos - MAX_SHOWN) : error.pos]
        after = call.invalid[error.pos : error.pos + MAX_SHOWN]
        return ToolError(
            f"{call.name}: the arguments are not JSON: {error.msg.removesuffix(' at')} at {where},"
            f" between {_quoted(before)} and {_quoted(after)}",
            hint="send one JSON object",
        )
    except (ValueError, RecursionError) as error:
        return ToolError(f"{call.name}: the arguments are not JSON: {error}", hint="send one JSON object")
    if isinstance(value, dict):  # json accepts what the standard forbids, such as half a surrogate pair
        return ToolError(f"{call.name}: the arguments are not valid Unicode", hint="send them as UTF-8")
    return ToolError(f"{call.name}: the arguments must be a JSON object, got {_shown(value)}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


# ---------------------------------------------------------------------------- checking


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    """Compile a schema; `offline`, because the schema of a third-party tool could refer to any address."""
    return validator_for(schema, offline=True)


def _may_be_costly(schema: str) -> bool:
    """Search the schema's text: walking the schema on every call would take longer than the check itself."""
    return any(word in schema for word in COSTLY)


def _problems(spec: ToolSpec, args: dict[str, Any]) -> list[ValidationError]:
    try:
        schema = encode(spec.parameters).decode()
        if _may_be_costly(schema) and is_costly(spec.parameters, args):
            return []  # too costly to check here: the tool checks its arguments itself
        validator = _validator(schema)
    except ValueError as error:
        first_line = str(error).partition("\n")[0]
        raise ToolError(
            f"{spec.name} cannot be used, its parameter schema is broken: {first_line}"
        ) from error
    if validator.is_valid(args):
        return []
    return list(islice(validator.iter_errors(args), MAX_PROBLEMS))


def _refusal(spec: ToolSpec, args: dict[str, Any], problems: Sequence[ValidationError]) -> ToolError:
    known = spec.parameters.get("properties", {})
    unknown = [_quoted(name) for name in args if name not in known]
    hint = f"{spec.name} does not know {', '.join(unknown)}, it takes {', '.join(known)}" if unknown else ""
    return ToolError(f"{spec.name}: {'; '.join(sorted(_explain(spec, p) for p in problems))}", hint=hint)


def _explain(spec: ToolSpec, error: ValidationError) -> str:
    where = _location(error.instance_path)
    got = _shown(error.instance)
    match error.kind.name:
        case "required":
            name = _location([*error.instance_path, error.kind.value])
            kinds = _kinds(spec.parameters.get("properties", {}).get(name))
            return f'"{name}" is missing' + (f", it must be {_any_of(kinds)}" if kinds else "")
        case "type":
            return f'"{where}" must be {_any_of(error.kind.value)}, got {got}'
        case "enum":
            return f'"{where}" must be one of {", ".join(map(_json, error.kind.value))}, got {got}'
        case "additionalProperties":
            return f"unknown {', '.join(map(_quoted, error.kind.value))}"
        case _:
            text = _cut(error.message, 4 * MAX_SHOWN)
            return f'"{where}": {text}' if where else text


def _location(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _any_of(kinds: Sequence[str]) -> str:
    null_last = sorted(kinds, key=lambda kind: (kind == "null", kind))
    return " or ".join(_ARTICLES.get(kind, f"a {kind}") for kind in null_last)


def _shown(value: Any) -> str:
    kind = _kind(value)
    if kind in ("null", "boolean"):
        return _json(value)
    return f"the {kind} {_cut(_json(value), MAX_SHOWN)}"


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "object")


def _quoted(text: str) -> str:
    return _json(_cut(text, MAX_SHOWN))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


# ---------------------------------------------------------------------------- near misses


def _fit(value: Any, schema: Any) -> Any:
    if not isinstance(schema, dict):
        return value
    if isinstance(value, str):
        value = _read(value, _kinds(schema))
    if isinstance(value, dict):
        return _fit_object(value, schema)
    if isinstance(value, list):
        return [_fit(item, schema.get("items")) for item in value]
    return value


def _fit_object(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    fitted = {}
    for name, item in value.items():
        kinds = _kinds(properties.get(name))
        if item is None and name not in required and kinds and "null" not in kinds:
            continue
        fitted[name] = _fit(item, properties.get(name))
    return fitted


def _read(text: str, kinds: Sequence[str]) -> Any:
    """Parse a text as JSON of one of the wanted types; return the text itself if it is not."""
    if not kinds or "string" in kinds:
        return text
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text
    kind = _kind(value)
    if kind == "number" and "number" not in kinds and value.is_integer():
        value, kind = int(value), "integer"
    return value if kind in kinds or (kind == "integer" and "number" in kinds) else text


def _kinds(schema: Any) -> list[str]:
    kinds = schema.get("type", []) if isinstance(schema, dict) else []
    return [kinds] if isinstance(kinds, str) else list(kinds)
