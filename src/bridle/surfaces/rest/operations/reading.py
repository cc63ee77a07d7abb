"""What is recorded of a session: its records, changes, context and use, and the whole as a document."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.core.protocol import Record
from bridle.core.queries import NextContext, PlanRewind, PreviewContext, Records, RewindPlan
from bridle.surfaces.export import Document, Format
from bridle.surfaces.looking import Diff
from bridle.surfaces.meerkat.results import History, history
from bridle.surfaces.problems import PROVIDER_ERROR, SESSION_BUSY
from bridle.surfaces.rest.operation import Ask, Nothing, Operation, answer
from bridle.surfaces.rest.operations.fields import MOST, Seq
from bridle.surfaces.usage import Stats

PAGE = 100
MAX_PAGE = 1_000

MEDIA: dict[Format, str] = {"md": "text/markdown", "json": "application/json", "html": "text/html"}


class RecordsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which records are wanted."""

    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = PAGE


class RecordPage(Struct, frozen=True):
    """Some records, in order."""

    records: list[Record]
    next: int | None
    """What to ask for the following page with, as `after`; null on the last one."""


class HistoryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which messages are wanted."""

    offset: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = PAGE


class RewindQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to go back to."""

    to_seq: Annotated[int, Meta(ge=1, le=MOST)]


class DiffQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which changes are wanted."""

    after: Seq = 0
    upto: Annotated[int, Meta(ge=0, le=MOST)] | None = None


class ContextQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which turn's context is wanted."""

    at: Annotated[int, Meta(ge=1, le=MOST, description="After this record; now if not given.")] | None = None


class ExportQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """How to write it."""

    format: Format = "md"


async def _records(ask: Ask[None, RecordsQuery, Nothing]) -> Response:
    after, limit = ask.query.after, ask.query.limit
    found = await ask.api.ask(Records(ask.session, after, limit + 1))
    if not found:
        await ask.api.ask(Records(ask.session, limit=1))
    page = found[:limit]
    return answer(RecordPage(page, page[-1].seq if len(found) > limit else None))


async def _history(ask: Ask[None, HistoryQuery, Nothing]) -> Response:
    records = await ask.api.ask(Records(ask.session))
    page = await asyncio.to_thread(history, ask.session, records, ask.query.offset, ask.query.limit)
    return answer(page)


async def _plan_rewind(ask: Ask[None, RewindQuery, Nothing]) -> Response:
    return answer(await ask.api.ask(PlanRewind(ask.session, ask.query.to_seq)))


async def _diff(ask: Ask[None, DiffQuery, Nothing]) -> Response:
    return answer(await ask.desk.looking.diff(ask.session, ask.query.after, ask.query.upto))


async def _context(ask: Ask[None, ContextQuery, Nothing]) -> Response:
    return answer(await ask.api.ask(PreviewContext(ask.session, ask.query.at)))


async def _export(ask: Ask[None, ExportQuery, Nothing]) -> Response:
    text = await ask.desk.looking.export(ask.session, ask.query.format)
    return Response(text, media_type=MEDIA[ask.query.format])


async def _usage(ask: Ask[None, Nothing, Nothing]) -> Response:
    return answer(await ask.desk.looking.usage(ask.session))


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
    Operation(
        method="GET",
        path="/sessions/{id}/rewind",
        name="plan_rewind",
        summary="Say what going back would do to the files, without doing it",
        query=RewindQuery,
        answers=RewindPlan,
        problems=(SESSION_BUSY,),
        handler=_plan_rewind,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/diff",
        name="diff",
        summary="Return what a session changed on disk",
        query=DiffQuery,
        answers=Diff,
        problems=(SESSION_BUSY,),
        handler=_diff,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/context",
        name="context",
        summary="Return what the next turn would send to the model",
        query=ContextQuery,
        answers=NextContext,
        problems=(SESSION_BUSY, PROVIDER_ERROR),
        handler=_context,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/export",
        name="export",
        summary="Return a session as a document",
        query=ExportQuery,
        media="text/markdown",
        media_also={"text/html": None, "application/json": Document},
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
