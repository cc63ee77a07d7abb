"""The queries about one session that clients can send: those of `core/queries.py` that are `published`.

```
query with `published` ─▶ REST        GET /sessions/{id}/<path>
                       ─▶ JSON-RPC    session/<name>
                       ─▶ ACP         _bridle/<name>
                       ─▶ MCP         bridle_sessions, action <name>
```

Each surface derives parameters, validation and documentation from the fields of the query. Queries that a
surface pages or answers in another form are not published this way.
"""

from collections.abc import Mapping
from types import NoneType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from bridle.core.ids import SessionId
from bridle.core.queries import QUERIES, Published, Query
from bridle.surfaces.shared.error_codes import PROBLEMS, ErrorKind

Parameter = tuple[str, Any, Any]
"""Name, type and default of a parameter, as `defstruct` takes them."""


class SessionQuery(Struct, frozen=True):
    """A query as clients see it."""

    kind: type[Query[Any]]
    published: Published

    @property
    def name(self) -> str:
        """The name of its method in JSON-RPC and ACP."""
        return self.published.name or str(self.kind.__struct_config__.tag)

    @property
    def path(self) -> str:
        """The REST path below `/sessions/{id}/`."""
        return self.published.path

    @property
    def action(self) -> str:
        """The name of its action in MCP."""
        return self.published.action or self.name

    @property
    def doc(self) -> str:
        """The first line of its docstring, without the period."""
        return (self.kind.__doc__ or "").partition("\n")[0].removesuffix(".")

    @property
    def problems(self) -> tuple[ErrorKind, ...]:
        """The kinds of its errors, besides those of every query."""
        return tuple(PROBLEMS[error] for error in self.published.raises)

    def parameters(self, number: Any, special: Mapping[str, Any] | None = None) -> list[Parameter]:
        """Return all fields but the session; `number` is the surface's integer type.

        `special` has the types of integers with other bounds, by name.
        """
        return [_parameter(field, number, special or {}) for field in self._fields()]

    def query(self, session: SessionId, given: Mapping[str, Any]) -> Query[Any]:
        """Return the query about a session, with the validated values of a client's request."""
        names = [field.name for field in self._fields()]
        return self.kind(session, **{name: given[name] for name in names if name in given})

    def _fields(self) -> list[FieldInfo]:
        return [field for field in fields(self.kind) if field.name != "session"]


SESSION_QUERIES = tuple(SessionQuery(kind, kind.published) for kind in QUERIES if kind.published is not None)


def without_none(kind: Any) -> Any:
    """Return the type that an optional type is of."""
    if NoneType not in get_args(kind):
        return kind
    return Union[tuple(part for part in get_args(kind) if part is not NoneType)]  # noqa: UP007  at runtime


def _parameter(field: FieldInfo, number: Any, special: Mapping[str, Any]) -> Parameter:
    given = without_none(field.type)
    kind = special.get(field.name, number) if given is int else given
    if given is not int and not _is_bounded(given):
        raise TypeError(f"{field.name}: {field.type} is not a number, a flag, a choice or a bounded type")
    return field.name, kind if given is field.type else kind | None, field.default


def _is_bounded(kind: Any) -> bool:
    """Return whether a type limits the size of a value, because clients are not trusted."""
    if get_origin(kind) is not Annotated:
        return kind is bool or get_origin(kind) is Literal
    limits = {int: ("ge", "le"), str: ("max_length",)}.get(kind.__origin__)
    return limits is not None and all(
        any(getattr(meta, limit, None) is not None for meta in kind.__metadata__) for limit in limits
    )
