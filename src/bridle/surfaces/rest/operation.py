"""One operation of the REST service: what it is called by, what it takes and answers, and who does it.

Routes and the OpenAPI document are made from the same table of these, so that neither can differ from
the other.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from bridle.core.ids import SessionId
from bridle.core.session_api import LiveSession, SessionApi
from bridle.surfaces.books import Books
from bridle.surfaces.file_names import FileNames
from bridle.surfaces.folder import Folders
from bridle.surfaces.folder_queries import FolderQueries
from bridle.surfaces.problems import Problem
from bridle.surfaces.rest.news import NewsFeed
from bridle.surfaces.rest.readiness import Readiness
from bridle.surfaces.rest.stream import Streams

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

BodyT = TypeVar("BodyT")
QueryT = TypeVar("QueryT")
HeadersT = TypeVar("HeadersT")


class Desk(Struct, frozen=True):
    """What the operations work with."""

    api: SessionApi
    folders: Folders
    streams: Streams
    news: NewsFeed
    files: FileNames
    books: Books
    live: Callable[[], Sequence[LiveSession]]
    document: Callable[[], bytes]
    """Returns the OpenAPI document, which takes a while the first time."""
    readiness: Readiness
    metrics: Callable[[], bytes] | None = None
    """Returns the metrics in the words of Prometheus; blocking."""

    @property
    def about_folders(self) -> FolderQueries:
        """Return what answers questions about folders."""
        return FolderQueries(self.api, self.folders)


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """The query or the headers of an operation that looks at none."""


class Ask(Struct, Generic[BodyT, QueryT, HeadersT], frozen=True):
    """A request that was found to be in order."""

    desk: Desk
    request: Request
    body: BodyT
    query: QueryT
    headers: HeadersT

    @property
    def api(self) -> SessionApi:
        """Return where the sessions are."""
        return self.desk.api

    @property
    def session(self) -> SessionId:
        """Return the session that the path names."""
        return SessionId(self.request.path_params["id"])


Handler = Callable[[Ask[Any, Any, Any]], Awaitable[Response]]


class Operation(Struct, frozen=True, kw_only=True):
    """One line of the table."""

    method: Method
    path: str
    """With `{id}` for a session."""
    name: str
    summary: str
    handler: Handler
    only_looks: bool = False
    """Whether it changes nothing though it is no GET."""
    answers: Any = None
    """The type of the JSON that it answers; None for what is no JSON."""
    media: str = "application/json"
    status: int = 200
    body: Any = None
    """The type of the JSON that it takes."""
    query: type[Struct] = Nothing
    headers: type[Struct] = Nothing
    """Named in kebab case; a header is looked at only if it is named here."""
    problems: tuple[Problem, ...] = ()
    """What may go wrong, beside what may go wrong everywhere."""
    also: dict[int, Any] = {}
    """The types of other good answers, by their status."""
    streams: tuple[Any, ...] = ()
    """The types of the JSON in the events of a stream."""
    media_also: dict[str, Any] = {}
    """The types of other ways to put the answer, by their media type."""

    @property
    def looks_at(self) -> str:
        """Return the path of what it only looks at; empty for what it changes."""
        return self.path if self.method == "GET" or self.only_looks else ""


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer a value as JSON."""
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")
