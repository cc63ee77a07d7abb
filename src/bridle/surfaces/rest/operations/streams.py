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
from bridle.surfaces.rest.news_feed import WithNews
from bridle.surfaces.rest.operation import Operation, ValidRequest
from bridle.surfaces.rest.operations.fields import MAX_SAFE_INT
from bridle.surfaces.rest.problem_document import ProblemDocument
from bridle.surfaces.rest.view_format import BOARD
from bridle.surfaces.shared.session_calls import read_session
from bridle.surfaces.shared.view_model.view_types import Patch

CONTRACT = parse_contract(DEFAULT_CONTRACT)
MEDIA = "text/event-stream"

After = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT, description="The last record that is known already.")]
Live = Annotated[bool, Meta(description="Whether to go on after what is stored.")]
News = Annotated[bool, Meta(description="Whether news of every session come between, as events named news.")]

StreamFormat = Annotated[
    Literal["bridle", "board"],
    Meta(description="Records and deltas, or patches of the board as it was after the record `after`."),
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
        Annotated[int, Meta(ge=0, le=MAX_SAFE_INT, description="Counts before `after`.")] | None
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
        told = ((event, to_wire(event, CONTRACT)) for event in translation.add(item))
        return [
            (str(type(event).__struct_config__.tag), encode(shaped))
            for event, shaped in told
            if shaped is not None
        ]

    return translate


MEERKAT = EventFormat("meerkat", _begin, remembers=True)


async def _events(ask: ValidRequest[None, EventsQuery, Resuming]) -> Response:
    session = await read_session(ask.api, ask.session)
    loaded = SessionLoaded(ask.session, session.known.totals.messages)
    after = ask.query.after if ask.headers.last_event_id is None else ask.headers.last_event_id
    if after is None and not ask.query.live:
        after = 0
    preface = [("session_loaded", encode(loaded))]
    return await ask.desk.streams.open(ask.session, after, MEERKAT, preface=preface, live=ask.query.live)


async def _stream(ask: ValidRequest[None, StreamQuery, Resuming]) -> Response:
    after = ask.query.after if ask.headers.last_event_id is None else ask.headers.last_event_id
    form = FORMATS[ask.query.format]
    stream = await ask.desk.streams.open(ask.session, after, form, live=ask.query.live)
    return WithNews(ask.desk.news, stream) if ask.query.news else stream


OPERATIONS = (
    Operation(
        method="GET",
        path="/sessions/{id}/events",
        name="events",
        summary="Follow a session in Meerkat's words, as server-sent events",
        query=EventsQuery,
        headers=Resuming,
        media=MEDIA,
        streams=(dict[str, Any],),
        handler=_events,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/stream",
        name="stream",
        summary="Follow a session's records and deltas, or its board, as server-sent events",
        query=StreamQuery,
        headers=Resuming,
        media=MEDIA,
        streams=(Record, Delta, Patch, SessionNews, Done, ProblemDocument),
        handler=_stream,
    ),
)
