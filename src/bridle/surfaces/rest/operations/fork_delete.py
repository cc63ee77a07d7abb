"""Operations that fork and delete sessions."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.core.errors import KeyTaken, SessionConflict
from bridle.core.ids import SessionId
from bridle.core.protocol import Delete
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.operations.fields import MAX_SAFE_INT, Keyed
from bridle.surfaces.shared.error_codes import DUPLICATE_INPUT, SESSION_BUSY
from bridle.surfaces.shared.session_calls import fork_session, origin, session_id_for_key


class Fork(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to fork the session."""

    at: Annotated[int, Meta(ge=1, le=MAX_SAFE_INT)] | None = None
    """The last record to copy; all if null."""


class Forked(Struct, frozen=True):
    """The new session."""

    session_id: SessionId
    parent: SessionId


async def _fork(ask: ValidRequest[Fork, Nothing, Keyed]) -> Response:
    key, at = ask.headers.idempotency_key, ask.body.at
    wanted = session_id_for_key("fork", key) if key else None
    try:
        child = await fork_session(ask.api, ask.session, at, session_id=wanted)
    except SessionConflict:
        if wanted is None:
            raise
        created = await origin(ask.api, wanted)
        if created.parent != ask.session or at not in (None, created.forked_at):
            raise KeyTaken(f'the key "{key}" belongs to another fork', hint="use a new key") from None
        child = wanted
    return json_response(Forked(child, ask.session), 201, {"location": f"/sessions/{child}"})


async def _delete(ask: ValidRequest[None, Nothing, Nothing]) -> Response:
    await origin(ask.api, ask.session)  # raises if there is no such session
    await ask.api.submit(ask.session, Delete())
    return Response(status_code=204)


OPERATIONS = (
    Operation(
        method="POST",
        path="/sessions/{id}/fork",
        name="fork",
        summary="Begin a session with the messages of another one",
        body=Fork,
        headers=Keyed,
        answers=Forked,
        status=201,
        problems=(DUPLICATE_INPUT,),
        handler=_fork,
    ),
    Operation(
        method="DELETE",
        path="/sessions/{id}",
        name="delete_session",
        summary="Remove a session for good, and its sub-agents",
        status=204,
        problems=(SESSION_BUSY,),
        handler=_delete,
    ),
)
