"""The table of queries about one session that REST, JSON-RPC and ACP forward unchanged.

One row adds a query to all three: parameters, route, method and documentation are generated from the fields
of its query. Queries that a surface pages or names differently are not in this table.
"""

from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from bridle.core.ids import SessionId
from bridle.core.queries import PlanRewind, PreviewContext, Query, ShowDiff
from bridle.surfaces.error_codes import PROVIDER_ERROR, SESSION_BUSY, ErrorKind


class SessionQuery(Struct, frozen=True):
    """One row of the table."""

    name: str
    """The method is `session/<name>` in JSON-RPC, `_bridle/<name>` in ACP."""
    path: str
    """The REST path below `/sessions/{id}/`."""
    doc: str
    kind: type[Query[Any]]
    problems: tuple[ErrorKind, ...] = (SESSION_BUSY,)

    def parameters(self, number: Any, special: dict[str, Any] | None = None) -> list[tuple[str, Any, Any]]:
        """Return the fields for `defstruct`, without the session; `number` is the surface's integer type.

        `special` has other types for some fields, by name, for example with other bounds.
        """
        return [_parameter(field, (special or {}).get(field.name, number)) for field in self._fields()]

    def query(self, session: SessionId, given: Struct) -> Query[Any]:
        """Return the query about a session, with the values from the client's request."""
        return self.kind(session, **{field.name: getattr(given, field.name) for field in self._fields()})

    def _fields(self) -> list[FieldInfo]:
        return [field for field in fields(self.kind) if field.name != "session"]


SESSION_QUERIES = (
    SessionQuery("diff", "diff", "Return what a session changed on disk", ShowDiff),
    SessionQuery(
        "plan_rewind", "rewind", "Say what going back would do to the files, without doing it", PlanRewind
    ),
    SessionQuery(
        "context",
        "context",
        "Return what the next turn would send to the model",
        PreviewContext,
        (SESSION_BUSY, PROVIDER_ERROR),
    ),
)


def _parameter(field: FieldInfo, number: Any) -> tuple[str, Any, Any]:
    if field.default is NODEFAULT:
        return field.name, number, NODEFAULT
    return field.name, number | None if field.default is None else number, field.default
