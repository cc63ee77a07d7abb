"""An operation of the REST service: its path, its request and response types, and its handler.

Routes and the OpenAPI document are generated from the same table of operations, so that they always agree.
"""

from collections.abc import Awaitable, Callable, Sequence
from types import NoneType
from typing import Any, Generic, Literal, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from bridle.core.ids import SessionId
from bridle.core.session_api import LiveSession, SessionApi
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.news_feed import NewsFeed
from bridle.surfaces.rest.readiness import Readiness
from bridle.surfaces.rest.usage_by_hour import UsageHistory
from bridle.surfaces.shared.error_codes import ErrorKind
from bridle.surfaces.shared.file_names import FileFinder
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.folder_queries import FolderQueries

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

BodyT = TypeVar("BodyT")
QueryT = TypeVar("QueryT")
HeadersT = TypeVar("HeadersT")


class ServiceContext(Struct, frozen=True):
    """What the operations work with: the session API, streams, folders and more."""

    api: SessionApi
    folders: Folders
    streams: Streams
    news: NewsFeed
    files: FileFinder
    usage_history: UsageHistory
    live: Callable[[], Sequence[LiveSession]]
    document: Callable[[], bytes]
    """Returns the OpenAPI document; the first call takes a while."""
    readiness: Readiness
    metrics: Callable[[], bytes] | None = None
    """Returns the metrics in Prometheus format; blocking."""

    @property
    def about_folders(self) -> FolderQueries:
        """Return what answers questions about folders."""
        return FolderQueries(self.api, self.folders)


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """The query or headers of an operation that has none."""


class ValidRequest(Struct, Generic[BodyT, QueryT, HeadersT], frozen=True):
    """A validated request."""

    context: ServiceContext
    raw: Request
    body: BodyT
    query: QueryT
    headers: HeadersT

    @property
    def api(self) -> SessionApi:
        """The session API."""
        return self.context.api

    @property
    def session(self) -> SessionId:
        """The session in the path."""
        return SessionId(self.raw.path_params["id"])


PlainRequest = ValidRequest[None, Nothing, Nothing]


Handler = Callable[[ValidRequest[Any, Any, Any]], Awaitable[Response]]


class Operation(Struct, frozen=True, kw_only=True):
    """One row of the table of operations."""

    method: Method
    path: str
    """With `{id}` for a session."""
    name: str
    summary: str
    handler: Handler
    reads_only: bool = False
    """True for an operation that changes nothing although it is not a GET."""
    answers: Any = None
    """The type of the JSON response; None if it is not JSON."""
    media: str = "application/json"
    status: int = 200
    body: Any = None
    """The type of the JSON body."""
    query: type[Struct] = Nothing
    headers: type[Struct] = Nothing
    """In kebab case; headers not listed here are ignored."""
    problems: tuple[ErrorKind, ...] = ()
    """Possible problems, besides those of every operation."""
    also: dict[int, Any] = {}
    """The types of other successful responses, by status."""
    streams: tuple[Any, ...] = ()
    """The types of the JSON in the events of a stream."""
    media_also: dict[str, Any] = {}
    """The types of alternative representations, by media type."""

    @property
    def read_path(self) -> str:
        """The path of a read-only operation; empty for one that changes something."""
        return self.path if self.method == "GET" or self.reads_only else ""


def operation(
    method: Method, path: str, name: str, summary: str, answers: Any = None, **details: Any
) -> Callable[[Handler], Operation]:
    """Make an operation from a handler; the `ValidRequest` it takes names the body, query and headers."""

    def make(handler: Handler) -> Operation:
        body, query, headers = get_args(next(iter(get_type_hints(handler, include_extras=True).values())))
        return Operation(
            method=method,
            path=path,
            name=name,
            summary=summary,
            handler=handler,
            answers=answers,
            body=None if body is NoneType else body,
            query=query,
            headers=headers,
            **details,
        )

    return make


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a value as a JSON response."""
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")
