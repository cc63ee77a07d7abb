"""Operations that stream a session as server-sent events: Meerkat events, records or view patches."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from starlette.responses import Response

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Record
from bridle.core.session_api import SessionNews
from bridle.surfaces.meerkat.contract import DEFAULT_CONTRACT, parse_contract
from bridle.surfaces.meerkat.event_translator import EventTranslator
from bridle.surfaces.meerkat.wire_format import to_wire
from bridle.surfaces.rest.event_format import OURS, EventFormat, Frame, Translate
from bridle.surfaces.rest.event_stream import DONE, RETRY
from bridle.surfaces.rest.news_feed import OnlyNews, WithNews, news_event
from bridle.surfaces.rest.operation import Nothing, ValidRequest, operation
from bridle.surfaces.rest.operations.fields import MAX_SAFE_INT
from bridle.surfaces.rest.problem_document import ProblemDocument
from bridle.surfaces.rest.view_format import BOARD
from bridle.surfaces.shared.session_calls import read_session
from bridle.surfaces.shared.view_model.view_types import Patch

CONTRACT = parse_contract(DEFAULT_CONTRACT)
MEDIA = "text/event-stream"

After = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT, description="The last record that the client has.")]
Live = Annotated[bool, Meta(description="Whether to continue after the stored records.")]
News = Annotated[bool, Meta(description="Whether to include news of all sessions, as events named news.")]

StreamFormat = Annotated[
    Literal["bridle", "board"],
    Meta(description="Records and deltas, or patches of the board as of the record `after`."),
]

FORMATS = {form.name: form for form in (OURS, BOARD)}


class EventsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to start; only new events if `after` is missing."""

    after: After | None = None
    live: Live = True


class StreamQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to start, and in which format."""

    after: After = 0
    live: Live = True
    news: News = False
    format: StreamFormat = field(default="bridle", name="speech")


class Resuming(Struct, frozen=True, rename="kebab"):
    """The headers of a client that reconnects."""

    last_event_id: (
        Annotated[int, Meta(ge=0, le=MAX_SAFE_INT, description="Takes precedence over `after`.")] | None
    ) = None


class SessionLoaded(Struct, frozen=True):
    """The first event of Meerkat's stream."""

    session_id: SessionId
    message_count: int


class Done(Struct, frozen=True, forbid_unknown_fields=True):
    """The last event of a stream."""


def _begin(session: SessionId) -> Translate:
    translation = EventTranslator(session)

    def translate(item: Record | Delta) -> list[Frame]:
        wire = ((event, to_wire(event, CONTRACT)) for event in translation.add(item))
        return [
            (str(type(event).__struct_config__.tag), encode(shaped))
            for event, shaped in wire
            if shaped is not None
        ]

    return translate


MEERKAT = EventFormat("meerkat", _begin, remembers=True)


@operation(
    "GET",
    "/sessions/{id}/events",
    "events",
    "Stream a session as Meerkat's events, as server-sent events",
    media=MEDIA,
    streams=(dict[str, Any],),
)
async def _events(request: ValidRequest[None, EventsQuery, Resuming]) -> Response:
    session = await read_session(request.api, request.session)
    loaded = SessionLoaded(request.session, session.known.totals.messages)
    after = request.query.after if request.headers.last_event_id is None else request.headers.last_event_id
    if after is None and not request.query.live:
        after = 0
    preface = [("session_loaded", encode(loaded))]
    return await request.context.streams.open(
        request.session, after, MEERKAT, preface=preface, live=request.query.live
    )


@operation(
    "GET",
    "/sessions/{id}/stream",
    "stream",
    "Stream a session's records and deltas, or patches of its board, as server-sent events",
    media=MEDIA,
    streams=(Record, Delta, Patch, SessionNews, Done, ProblemDocument),
)
async def _stream(request: ValidRequest[None, StreamQuery, Resuming]) -> Response:
    after = request.query.after if request.headers.last_event_id is None else request.headers.last_event_id
    form = FORMATS[request.query.format]
    stream = await request.context.streams.open(request.session, after, form, live=request.query.live)
    return WithNews(request.context.news, stream) if request.query.news else stream


# ---------------------------------------------------------------------------- news


class NewsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether to continue after the current states."""

    live: Annotated[bool, Meta(description="Whether to continue after the current states.")] = True


@operation(
    "GET",
    "/news",
    "news",
    "Stream which sessions start, end, wait or get a new title, as server-sent events",
    media=MEDIA,
    streams=(SessionNews, Done, ProblemDocument),
)
async def _news(request: ValidRequest[None, NewsQuery, Nothing]) -> Response:
    if request.query.live:
        return WithNews(request.context.news, OnlyNews(request.context.news))
    events = [news_event(SessionNews(session.id, session)) for session in request.context.live()]
    return Response(RETRY + b"".join(events) + DONE, media_type=MEDIA)


OPERATIONS = (
    _events,
    _stream,
    _news,
)
