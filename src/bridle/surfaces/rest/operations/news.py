"""The operation that streams news of all sessions."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.core.session_api import SessionNews
from bridle.surfaces.rest.event_stream import DONE, RETRY
from bridle.surfaces.rest.news_feed import OnlyNews, WithNews, news_event
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest
from bridle.surfaces.rest.operations.streams import MEDIA, Done
from bridle.surfaces.rest.problem_document import ProblemDocument


class NewsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether to continue after the current states."""

    live: Annotated[bool, Meta(description="Whether to go on after how the sessions are now.")] = True


async def _news(ask: ValidRequest[None, NewsQuery, Nothing]) -> Response:
    if ask.query.live:
        return WithNews(ask.desk.news, OnlyNews(ask.desk.news))
    told = [news_event(SessionNews(session.id, session)) for session in ask.desk.live()]
    return Response(RETRY + b"".join(told) + DONE, media_type=MEDIA)


OPERATIONS = (
    Operation(
        method="GET",
        path="/news",
        name="news",
        summary="Follow which sessions begin, end, wait or are named anew, as server-sent events",
        query=NewsQuery,
        media=MEDIA,
        streams=(SessionNews, Done, ProblemDocument),
        handler=_news,
    ),
)
