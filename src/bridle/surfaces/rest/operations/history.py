"""Operations that read a session: its records, messages, changes, context, usage, and an export."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct, defstruct
from msgspec.structs import asdict
from starlette.responses import Response

from bridle.core.protocol import Record
from bridle.core.queries import Records, answer_type
from bridle.surfaces.meerkat.results import History, history
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.operations.fields import MAX_SAFE_INT, Seq
from bridle.surfaces.shared.export import ExportDocument, Format
from bridle.surfaces.shared.session_calls import export_session
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery
from bridle.surfaces.shared.usage import Stats, count_session_usage

PAGE = 100
MAX_PAGE = 1_000

MEDIA: dict[Format, str] = {"md": "text/markdown", "json": "application/json", "html": "text/html"}


BOUNDS = {
    "to_seq": Annotated[int, Meta(ge=1, le=MAX_SAFE_INT)],
    "at": Annotated[int, Meta(ge=1, le=MAX_SAFE_INT, description="After this record; now if not given.")],
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


async def _records(ask: ValidRequest[None, RecordsQuery, Nothing]) -> Response:
    after, limit = ask.query.after, ask.query.limit
    found = await ask.api.ask(Records(ask.session, after, limit + 1))
    if not found:
        await ask.api.ask(Records(ask.session, limit=1))
    page = found[:limit]
    return json_response(RecordPage(page, page[-1].seq if len(found) > limit else None))


async def _history(ask: ValidRequest[None, HistoryQuery, Nothing]) -> Response:
    records = await ask.api.ask(Records(ask.session))
    page = await asyncio.to_thread(history, ask.session, records, ask.query.offset, ask.query.limit)
    return json_response(page)


def _passed_on(row: SessionQuery) -> Operation:
    """Return the operation that forwards a query unchanged."""
    query = defstruct(
        f"{row.kind.__name__}Query", row.parameters(Seq, BOUNDS), frozen=True, forbid_unknown_fields=True
    )

    async def handler(ask: ValidRequest[None, Struct, Nothing]) -> Response:
        return json_response(await ask.api.ask(row.query(ask.session, asdict(ask.query))))

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


async def _export(ask: ValidRequest[None, ExportQuery, Nothing]) -> Response:
    text = await export_session(ask.api, ask.session, ask.query.format)
    return Response(text, media_type=MEDIA[ask.query.format])


async def _usage(ask: ValidRequest[None, Nothing, Nothing]) -> Response:
    return json_response(await count_session_usage(ask.api, ask.session))


OPERATIONS = (
    Operation(
        method="GET",
        path="/sessions/{id}/records",
        name="records",
        summary="Return the records of a session, in order",
        query=RecordsQuery,
        answers=RecordPage,
        handler=_records,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/history",
        name="history",
        summary="Return the messages of a session in Meerkat's words, oldest first",
        query=HistoryQuery,
        answers=History,
        handler=_history,
    ),
    # Keeps the order of the OpenAPI document stable: from rewind to context.
    *map(_passed_on, sorted(SESSION_QUERIES, key=lambda row: row.path, reverse=True)),
    Operation(
        method="GET",
        path="/sessions/{id}/export",
        name="export",
        summary="Return a session as a document",
        query=ExportQuery,
        media="text/markdown",
        media_also={"text/html": None, "application/json": ExportDocument},
        handler=_export,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/usage",
        name="usage",
        summary="Say what a session and its sub-agents have used",
        answers=Stats,
        handler=_usage,
    ),
)
