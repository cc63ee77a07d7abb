"""Operations for display: a session's board, its older items, and the timeline of a run."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.surfaces.board.loading import older_items, open_board
from bridle.surfaces.board.values import BoardPage, BoardView
from bridle.surfaces.rest.operation import Ask, Nothing, Operation, answer
from bridle.surfaces.rest.operations.fields import MOST, Text
from bridle.surfaces.timeline import Timeline, timeline_of


class BoardQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The point in the session to show."""

    at: Annotated[int, Meta(ge=1, le=MOST, description="After this record; now if not given.")] | None = None


class ItemsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which items to return."""

    before: Annotated[int, Meta(ge=1, le=MOST, description="What the page that is known already has said.")]


class TimelineQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which run to return."""

    run: Annotated[Text, Meta(description="The id of a run; the last one if not given.")] = ""


async def _board(ask: Ask[None, BoardQuery, Nothing]) -> Response:
    board = await open_board(ask.api, ask.session, ask.query.at)
    return answer(board.view)


async def _items(ask: Ask[None, ItemsQuery, Nothing]) -> Response:
    return answer(await older_items(ask.api, ask.session, ask.query.before))


async def _timeline(ask: Ask[None, TimelineQuery, Nothing]) -> Response:
    return answer(await timeline_of(ask.api, ask.session, ask.query.run))


OPERATIONS = (
    Operation(
        method="GET",
        path="/sessions/{id}/board",
        name="board",
        summary="Return a session as a person sees it: its head, and the newest items of its conversation",
        query=BoardQuery,
        answers=BoardView,
        handler=_board,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}/board/items",
        name="board_items",
        summary="Return the items of a conversation before those that are known",
        query=ItemsQuery,
        answers=BoardPage,
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
