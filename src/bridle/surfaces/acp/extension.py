"""Bridle's extension requests, for operations that ACP does not define.

```
_bridle/command      {"sessionId":…, "command": {"type":"steer",…}}  ─▶ {"seq":…, "run_id":…, "item_id":…}
_bridle/records      {"sessionId":…, "after": 0, "limit": 100}       ─▶ {"records": […]}
_bridle/export       {"sessionId":…, "format": "md"}                 ─▶ {"text":…}
_bridle/usage        {"sessionId":…}                                 ─▶ {"total":…, "models":…,…}
_bridle/folder       {"what": "agents", "cwd":…}                     ─▶ {"what":…, "agents": […]}
_bridle/<query>      {"sessionId":…, <its fields>}                  ─▶ its answer
```

`<query>` is the name of any query in `surfaces/shared/session_queries.py`.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from acp import RequestError
from msgspec import Meta, Struct, defstruct
from msgspec.structs import asdict

from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.protocol import Command
from bridle.core.queries import Records
from bridle.core.session_api import Receipt, SessionApi
from bridle.surfaces.acp.session import OpenSession
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.folder_queries import FolderQueries, Topic
from bridle.surfaces.shared.session_calls import export_session
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery
from bridle.surfaces.shared.usage import count_session_usage
from bridle.surfaces.shared.validation_error import format_validation_error

MAX_RECORDS = 1000

Seq = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class _Request(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The base of all requests."""


class CommandRequest(_Request, frozen=True):
    """A command for an open session."""

    session_id: str
    command: Command


class RecordsRequest(_Request, frozen=True):
    """The range of records to return."""

    session_id: str
    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_RECORDS)] = 100


class ExportRequest(_Request, frozen=True):
    """The session to export, and the format."""

    session_id: str
    format: Format = "md"


class UsageRequest(_Request, frozen=True):
    """The session whose usage to return."""

    session_id: str


class FolderRequest(_Request, frozen=True):
    """The topic and the folder to describe."""

    what: Topic
    cwd: str = ""


PASSED_ON: Mapping[str, SessionQuery] = {f"bridle/{row.name}": row for row in SESSION_QUERIES}
REQUESTS: Mapping[str, type[Struct]] = {
    "bridle/command": CommandRequest,
    "bridle/records": RecordsRequest,
    "bridle/export": ExportRequest,
    "bridle/usage": UsageRequest,
    "bridle/folder": FolderRequest,
    **{
        method: defstruct(
            f"{row.kind.__name__}Request",
            [("session_id", str), *row.parameters(Seq)],
            bases=(_Request,),
            frozen=True,
        )
        for method, row in PASSED_ON.items()
    },
}


async def answer(
    method: str,
    params: dict[str, Any],
    api: SessionApi,
    folders: Folders,
    sessions: Mapping[SessionId, OpenSession],
) -> Any:
    """Answer a request; `method` has no underscore; raises BridleError, RequestError."""
    if method not in REQUESTS:
        raise RequestError.method_not_found(f"_{method[:100]}")
    try:
        request: Any = msgspec.convert(params, REQUESTS[method])
    except msgspec.ValidationError as error:
        raise UsageError(format_validation_error(error, f"_{method}")) from None
    match request:
        case CommandRequest():
            return await _command(request, sessions)
        case FolderRequest():
            return await FolderQueries(api, folders).folder(request.what, request.cwd)
        case RecordsRequest():
            query = Records(_named(request.session_id), request.after, request.limit)
            return {"records": await api.ask(query)}
        case ExportRequest():
            return {"text": await export_session(api, _named(request.session_id), request.format)}
        case UsageRequest():
            return await count_session_usage(api, _named(request.session_id))
        case _:
            row = PASSED_ON[method]
            return await api.ask(row.query(_named(request.session_id), asdict(request)))


async def _command(request: CommandRequest, sessions: Mapping[SessionId, OpenSession]) -> Receipt:
    opened = sessions.get(SessionId(request.session_id))
    if opened is None:  # no client would answer the approvals and questions of its run
        raise SessionNotFound(f'session "{request.session_id[:200]}" is not open here', hint="session/load")
    return await opened.submit(request.command)


def _named(session: str) -> SessionId:
    """Return the id of a session, which need not be open; raises SessionNotFound."""
    if not is_session_id(session):
        raise SessionNotFound(f"{session[:200]!r} cannot name a session")
    return SessionId(session)
