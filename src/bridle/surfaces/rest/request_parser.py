"""Parses requests: body, query and headers by the operation's types; errors name the wrong field."""

import asyncio
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, inspect
from starlette.requests import Request

from bridle.core.errors import UsageError
from bridle.core.ids import is_session_id
from bridle.surfaces.rest.operation import Operation, ServiceContext, ValidRequest
from bridle.surfaces.shared.validation_error import format_validation_error

MAX_ID_CHARS = 128
MAX_AT_ONCE_BYTES = 256 * 1024  # about 10 ms; decoding more would block the event loop
_type_info = cache(inspect.type_info)  # takes a millisecond per type


async def parse_request(
    operation: Operation, context: ServiceContext, request: Request
) -> ValidRequest[Any, Any, Any]:
    """Validate a request; raises UsageError that names the field and what is wrong with it."""
    if "id" in request.path_params:
        _check_id(request.path_params["id"])
    return ValidRequest(
        context=context,
        raw=request,
        body=None if operation.body is None else await _body(await request.body(), operation.body),
        query=_read_query(request.query_params.multi_items(), operation.query),
        headers=_read_headers(request, operation.headers),
    )


async def _body(data: bytes, kind: Any) -> Any:
    if len(data) <= MAX_AT_ONCE_BYTES:
        return parse_body(data, kind)
    return await asyncio.to_thread(parse_body, data, kind)


def parse_body(data: bytes, kind: Any) -> Any:
    """Decode JSON as a type without unknown fields; raises UsageError."""
    if not data:
        raise UsageError("body: is missing", hint="{}, at least, is needed")
    try:
        value = msgspec.json.decode(data, type=kind)
        extra = unknown_field(msgspec.json.decode(data), _type_info(kind))
    except msgspec.ValidationError as error:
        raise UsageError(format_validation_error(error, "body")) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"body: is not JSON: {error}") from None
    except RecursionError:
        raise UsageError("body: is nested too deeply") from None
    if extra:
        raise UsageError(f"body: {extra}: unknown field")
    return value


def unknown_field(value: Any, kind: inspect.Type, path: str = "") -> str:
    """Return the path of the first field unknown to a type; the value is otherwise valid."""
    match kind:
        case inspect.StructType() if isinstance(value, dict):
            return _unknown_in_struct(value, kind, path)
        case inspect.UnionType():
            return _first(unknown_field(value, one, path) for one in _meant(value, kind))
        case inspect.ListType() | inspect.VarTupleType() if isinstance(value, list):
            items = enumerate(value)
            return _first(unknown_field(item, kind.item_type, f"{path}[{index}]") for index, item in items)
        case inspect.DictType() if isinstance(value, dict):
            return _first(
                unknown_field(item, kind.value_type, f"{path}.{key}" if path else key)
                for key, item in value.items()
            )
        case _:
            return ""


def _unknown_in_struct(value: dict[str, Any], kind: inspect.StructType, path: str) -> str:
    fields = {field.encode_name: field.type for field in kind.fields}
    for key, item in value.items():
        place = f"{path}.{key}" if path else key
        if key in fields:
            if found := unknown_field(item, fields[key], place):
                return found
        elif key != kind.tag_field:
            return place
    return ""


def _meant(value: Any, kind: inspect.UnionType) -> list[inspect.Type]:
    """Return the types of a union that a value can have, according to its tag."""
    if not isinstance(value, dict):
        return [one for one in kind.types if not isinstance(one, inspect.StructType)]
    return [
        one
        for one in kind.types
        if not isinstance(one, inspect.StructType)
        or one.tag_field is None
        or value.get(one.tag_field) == one.tag
    ]


def _first(found: Iterable[str]) -> str:
    return next(filter(None, found), "")


def _check_id(text: str) -> None:
    if not is_session_id(text):
        raise UsageError(
            f"id: {text[:MAX_ID_CHARS]!r} cannot name a session", hint="use letters, digits, dots and dashes"
        )


def _read_query(items: list[tuple[str, str]], kind: type[Struct]) -> Struct:
    given: dict[str, str] = {}
    for key, value in items:
        if key in given:
            raise UsageError(f"query: {key[:MAX_ID_CHARS]}: is given twice")
        given[key] = value
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(format_validation_error(error, "query")) from None


def _read_headers(request: Request, kind: type[Struct]) -> Struct:
    known = [field.encode_name for field in msgspec.structs.fields(kind)]
    given = {name: request.headers[name] for name in known if name in request.headers}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(format_validation_error(error, "header")) from None
