"""Operations for display: a session's view, its older items, and the timeline of a run."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.operations.fields import MAX_SAFE_INT, Text
from bridle.surfaces.shared.timeline import Timeline, timeline_of
from bridle.surfaces.shared.view_model.loader import load_older_items, open_view
from bridle.surfaces.shared.view_model.view_types import ViewPage, ViewSnapshot


class ViewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The point in the session to show."""

    at: (
        Annotated[int, Meta(ge=1, le=MAX_SAFE_INT, description="After this record; now if not given.")] | None
    ) = None


class ItemsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which items to return."""

    before: Annotated[
        int, Meta(ge=1, le=MAX_SAFE_INT, description="What the page that is known already has said.")
    ]


class TimelineQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which run to return."""

    run: Annotated[Text, Meta(description="The id of a run; the last one if not given.")] = ""


async def _view(ask: ValidRequest[None, ViewQuery, Nothing]) -> Response:
    model = await open_view(ask.api, ask.session, ask.query.at)
    return json_response(model.view)


async def _items(ask: ValidRequest[None, ItemsQuery, Nothing]) -> Response:
    return json_response(await load_older_items(ask.api, ask.session, ask.query.before))


async def _timeline(ask: ValidRequest[None, TimelineQuery, Nothing]) -> Response:
    return json_response(await timeline_of(ask.api, ask.session, ask.query.run))


OPERATIONS = (
    Operation(
        method="GET",
        path="/sessions/{id}/board",
        name="board",
        summary="Return a session as a person sees it: its head, and the newest items of its conversation",
        query=ViewQuery,
        answers=ViewSnapshot,
        handler=_view,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/board/items",
        name="board_items",
        summary="Return the items of a conversation before those that are known",
        query=ItemsQuery,
        answers=ViewPage,
        handler=_items,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/timeline",
        name="timeline",
        summary="Say how a run went over time, and what each turn of it sent and used",
        query=TimelineQuery,
        answers=Timeline,
        handler=_timeline,
    ),
)
