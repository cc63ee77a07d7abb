"""Our own requests, for what the protocol has no word for.

```
_bridle/command      {"sessionId":…, "command": {"type":"steer",…}}  ─▶ {"seq":…, "run_id":…, "item_id":…}
_bridle/records      {"sessionId":…, "after": 0, "limit": 100}       ─▶ {"records": […]}
_bridle/diff         {"sessionId":…, "after": 0, "upto": 9}          ─▶ {"changes": […], "text":…}
_bridle/plan_rewind  {"sessionId":…, "toSeq": 5}                     ─▶ {"changes": […], "conflicts": […],…}
_bridle/context      {"sessionId":…, "at": 5}                        ─▶ {"model":…, "messages": […],…}
_bridle/export       {"sessionId":…, "format": "md"}                 ─▶ {"text":…}
_bridle/usage        {"sessionId":…}                                 ─▶ {"total":…, "models":…,…}
_bridle/folder       {"what": "agents", "cwd":…}                     ─▶ {"what":…, "agents": […]}
```
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from acp import RequestError
from msgspec import Meta, Struct

from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.protocol import Command
from bridle.core.queries import PlanRewind, PreviewContext, Records
from bridle.core.session_api import Receipt
from bridle.surfaces.acp.session import OpenSession
from bridle.surfaces.export import Format
from bridle.surfaces.looking import Looking, Topic
from bridle.surfaces.misfit import misfit

MAX_RECORDS = 1000

Seq = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class _Request(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What every request is."""


class CommandRequest(_Request, frozen=True):
    """A command for a session that is open."""

    session_id: str
    command: Command


class RecordsRequest(_Request, frozen=True):
    """Which records are wanted."""

    session_id: str
    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_RECORDS)] = 100


class DiffRequest(_Request, frozen=True):
    """Which changes on disk are wanted."""

    session_id: str
    after: Seq = 0
    upto: Seq | None = None


class PlanRequest(_Request, frozen=True):
    """Where a rewind would go back to."""

    session_id: str
    to_seq: Seq


class ContextRequest(_Request, frozen=True):
    """Which turn's context is wanted: that after a record, or the next one."""

    session_id: str
    at: Seq | None = None


class ExportRequest(_Request, frozen=True):
    """How a session is to be written."""

    session_id: str
    format: Format = "md"


class UsageRequest(_Request, frozen=True):
    """Whose use is wanted."""

    session_id: str


class FolderRequest(_Request, frozen=True):
    """What is wanted of a folder."""

    what: Topic
    cwd: str = ""


SessionRequest = RecordsRequest | DiffRequest | PlanRequest | ContextRequest | ExportRequest | UsageRequest
Request = CommandRequest | FolderRequest | SessionRequest

REQUESTS: Mapping[str, type[Request]] = {
    "bridle/command": CommandRequest,
    "bridle/records": RecordsRequest,
    "bridle/diff": DiffRequest,
    "bridle/plan_rewind": PlanRequest,
    "bridle/context": ContextRequest,
    "bridle/export": ExportRequest,
    "bridle/usage": UsageRequest,
    "bridle/folder": FolderRequest,
}


async def answer(
    method: str, params: dict[str, Any], looking: Looking, sessions: Mapping[SessionId, OpenSession]
) -> Any:
    """Answer a request by its name without the underscore; raises BridleError, RequestError."""
    if method not in REQUESTS:
        raise RequestError.method_not_found(f"_{method[:100]}")
    try:
        request: Request = msgspec.convert(params, REQUESTS[method])
    except msgspec.ValidationError as error:
        raise UsageError(misfit(error, f"_{method}")) from None
    if isinstance(request, CommandRequest):
        return await _command(request, sessions)
    if isinstance(request, FolderRequest):
        return await looking.folder(request.what, request.cwd)
    return await _look(request, looking)


async def _command(request: CommandRequest, sessions: Mapping[SessionId, OpenSession]) -> Receipt:
    opened = sessions.get(SessionId(request.session_id))
    if opened is None:  # nobody here would answer what its run asks
        raise SessionNotFound(f'session "{request.session_id[:200]}" is not open here', hint="session/load")
    return await opened.submit(request.command)


async def _look(request: SessionRequest, looking: Looking) -> Any:
    """Look at a session, which need not be open."""
    if not is_session_id(request.session_id):
        raise SessionNotFound(f"{request.session_id[:200]!r} cannot name a session")
    session, api = SessionId(request.session_id), looking.api
    match request:
        case RecordsRequest():
            return {"records": await api.ask(Records(session, request.after, request.limit))}
        case DiffRequest():
            return await looking.diff(session, request.after, request.upto)
        case PlanRequest():
            return await api.ask(PlanRewind(session, request.to_seq))
        case ContextRequest():
            return await api.ask(PreviewContext(session, request.at))
        case ExportRequest():
            return {"text": await looking.export(session, request.format)}
        case UsageRequest():
            return await looking.usage(session)
