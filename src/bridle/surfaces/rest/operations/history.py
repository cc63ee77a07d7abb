"""Operations that read a session: its records, messages, changes, context, usage, and an export."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct, defstruct
from msgspec.structs import asdict
from starlette.responses import Response

from bridle.core.protocol import Record
from bridle.core.queries import Records, answer_type
from bridle.surfaces.meerkat.results import History, history
from bridle.surfaces.rest.operation import (
    Nothing,
    Operation,
    PlainRequest,
    ValidRequest,
    json_response,
    operation,
)
from bridle.surfaces.rest.operations.fields import MAX_SAFE_INT, Seq, Text
from bridle.surfaces.shared.export import ExportDocument, Format
from bridle.surfaces.shared.session_calls import export_session
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery
from bridle.surfaces.shared.timeline import Timeline, timeline_of
from bridle.surfaces.shared.usage import Stats, count_session_usage
from bridle.surfaces.shared.view_model.loader import load_older_items, open_view
from bridle.surfaces.shared.view_model.view_types import ViewPage, ViewSnapshot

PAGE = 100
MAX_PAGE = 1_000

MEDIA: dict[Format, str] = {"md": "text/markdown", "json": "application/json", "html": "text/html"}


BOUNDS = {
    "to_seq": Annotated[int, Meta(ge=1, le=MAX_SAFE_INT)],
    "at": Annotated[int, Meta(ge=1, le=MAX_SAFE_INT, description="After this record; by default now.")],
}
"""The types of parameters that differ from a plain sequence number."""


class RecordsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The range of records to return."""

    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = PAGE


class RecordPage(Struct, frozen=True):
    """A page of records, in order."""

    records: list[Record]
    next: int | None
    """The value of `after` for the next page; null on the last one."""


class HistoryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The range of messages to return."""

    offset: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = PAGE


class ExportQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The format of the export."""

    format: Format = "md"


@operation(
    "GET", "/sessions/{id}/records", "records", "Return the records of a session, in order", RecordPage
)
async def _records(request: ValidRequest[None, RecordsQuery, Nothing]) -> Response:
    after, limit = request.query.after, request.query.limit
    found = await request.api.ask(Records(request.session, after, limit + 1))
    if not found:
        await request.api.ask(Records(request.session, limit=1))
    page = found[:limit]
    return json_response(RecordPage(page, page[-1].seq if len(found) > limit else None))


@operation(
    "GET",
    "/sessions/{id}/history",
    "history",
    "Return the messages of a session in Meerkat's format, oldest first",
    History,
)
async def _history(request: ValidRequest[None, HistoryQuery, Nothing]) -> Response:
    records = await request.api.ask(Records(request.session))
    page = await asyncio.to_thread(
        history, request.session, records, request.query.offset, request.query.limit
    )
    return json_response(page)


def _passed_on(row: SessionQuery) -> Operation:
    """Return the operation that forwards a query unchanged."""
    query = defstruct(
        f"{row.kind.__name__}Query", row.parameters(Seq, BOUNDS), frozen=True, forbid_unknown_fields=True
    )

    async def handler(request: ValidRequest[None, Struct, Nothing]) -> Response:
        return json_response(await request.api.ask(row.query(request.session, asdict(request.query))))

    return Operation(
        method="GET",
        path=f"/sessions/{{id}}/{row.path}",
        name=row.name,
        summary=row.doc,
        query=query,
        answers=answer_type(row.kind),
        problems=row.problems,
        handler=handler,
    )


@operation(
    "GET",
    "/sessions/{id}/export",
    "export",
    "Return a session as a document",
    media="text/markdown",
    media_also={"text/html": None, "application/json": ExportDocument},
)
async def _export(request: ValidRequest[None, ExportQuery, Nothing]) -> Response:
    text = await export_session(request.api, request.session, request.query.format)
    return Response(text, media_type=MEDIA[request.query.format])


@operation("GET", "/sessions/{id}/usage", "usage", "Return the usage of a session and its sub-agents", Stats)
async def _usage(request: PlainRequest) -> Response:
    return json_response(await count_session_usage(request.api, request.session))


# ---------------------------------------------------------------------------- view


class ViewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The point in the session to show."""

    at: (
        Annotated[int, Meta(ge=1, le=MAX_SAFE_INT, description="After this record; by default now.")] | None
    ) = None


class ItemsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which items to return."""

    before: Annotated[
        int, Meta(ge=1, le=MAX_SAFE_INT, description="The number that the previous page named.")
    ]


class TimelineQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which run to return."""

    run: Annotated[Text, Meta(description="The id of a run; by default the last one.")] = ""


@operation(
    "GET",
    "/sessions/{id}/board",
    "board",
    "Return a session as people see it: its head and the newest items of its conversation",
    ViewSnapshot,
)
async def _view(request: ValidRequest[None, ViewQuery, Nothing]) -> Response:
    model = await open_view(request.api, request.session, request.query.at)
    return json_response(model.view)


@operation(
    "GET",
    "/sessions/{id}/board/items",
    "board_items",
    "Return older items of a conversation",
    ViewPage,
)
async def _items(request: ValidRequest[None, ItemsQuery, Nothing]) -> Response:
    return json_response(await load_older_items(request.api, request.session, request.query.before))


@operation(
    "GET",
    "/sessions/{id}/timeline",
    "timeline",
    "Return what a run spent its time on, and what each turn sent and used",
    Timeline,
)
async def _timeline(request: ValidRequest[None, TimelineQuery, Nothing]) -> Response:
    return json_response(await timeline_of(request.api, request.session, request.query.run))


OPERATIONS = (
    _records,
    _history,
    *map(_passed_on, sorted(SESSION_QUERIES, key=lambda row: row.path, reverse=True)),
    _export,
    _usage,
    _view,
    _items,
    _timeline,
)
