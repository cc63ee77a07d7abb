"""Derive the JSON Schema of a function's arguments from its signature, and convert JSON to arguments."""

import inspect
from collections.abc import Callable
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bridle.core.errors import ToolError, UsageError
from bridle.core.ports import ToolContext
from bridle.typed import schema_of, value_as

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature(Struct, frozen=True):
    """The arguments of a function."""

    schema: dict[str, Any]
    """A JSON Schema of type object."""
    shape: type[Struct]
    """A struct that decodes and validates the arguments of a call."""
    context: str
    """The name of the ToolContext parameter; empty if there is none."""

    def arguments(self, args: dict[str, Any]) -> dict[str, Any]:
        """Convert the arguments of a call for the function; raises ToolError."""
        try:
            read = value_as(self.shape, args)
        except UsageError as error:
            raise ToolError(str(error).replace(f"the value is not a {self.shape.__name__}: ", "")) from error
        given = {name: getattr(read, name) for name in self.shape.__struct_fields__}
        return {name: value for name, value in given.items() if value is not UNSET}


def read_signature(function: Callable[..., Any], name: str, described: dict[str, str]) -> Signature:
    """Read a function's signature; raises UsageError for what a schema cannot describe."""
    hints = _hints(function, name)
    fields: list[tuple[str, Any, Any] | tuple[str, Any]] = []
    notes, defaults, context = dict(described), dict[str, Any](), ""
    for parameter in inspect.signature(function).parameters.values():
        where = f'tool {name}: parameter "{parameter.name}"'
        if parameter.kind not in _NAMED:
            raise UsageError(f"{where}: a tool takes named arguments only")
        if parameter.name not in hints:
            raise UsageError(f"{where} has no type", hint=f"write {parameter.name}: str")
        kind = hints[parameter.name]
        if _is_context(kind):
            context = parameter.name
            continue
        if said := _said_of(kind):
            notes[parameter.name] = said
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, Union[kind, UnsetType], UNSET))  # noqa: UP007  kind may be anything
            defaults[parameter.name] = parameter.default
    shape = _shape(f"{name}_arguments", fields, name)
    return Signature(_schema(shape, notes, defaults, name), shape, context)


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise UsageError(f"tool {name}: its types cannot be read: {error}") from error


def _shape(title: str, fields: list[Any], name: str) -> type[Struct]:
    try:
        return msgspec.defstruct(title, fields, kw_only=True)
    except (TypeError, ValueError) as error:
        raise UsageError(f"tool {name}: its arguments cannot be described: {error}") from error


def _schema(
    shape: type[Struct], notes: dict[str, str], defaults: dict[str, Any], name: str
) -> dict[str, Any]:
    """Return the schema of the arguments, with descriptions and defaults, all at its top level."""
    try:
        whole = schema_of(shape)
    except UsageError as error:
        raise UsageError(f"tool {name}: {error.message}") from error
    definitions = dict(whole.get("$defs", {}))
    schema = {**definitions.pop(shape.__name__), **({"$defs": definitions} if definitions else {})}
    schema.pop("title", None)
    properties = {}
    for key, part in schema.get("properties", {}).items():
        more: dict[str, Any] = {}
        if key in notes:
            more["description"] = notes[key]
        if key in defaults and _is_plain(defaults[key]):
            more["default"] = defaults[key]
        properties[key] = {**part, **more}
    return {**schema, "properties": properties}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _is_context(kind: Any) -> bool:
    return kind is ToolContext or (get_origin(kind) is not None and ToolContext in get_args(kind))


def _said_of(kind: Any) -> str:
    """Return the description in `Annotated[int, "how many"]`, or that of a Meta or Field there."""
    for note in getattr(kind, "__metadata__", ()):
        said = note if isinstance(note, str) else getattr(note, "description", None)
        if isinstance(said, str) and said:
            return said
    return ""
