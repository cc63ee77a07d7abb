"""Operations that list sessions and return a session's state."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from bridle.core.errors import KeyTaken, SessionConflict, UsageError
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import (
    ApprovalRequested,
    Command,
    Delete,
    Outcome,
    Prompt,
    QuestionAsked,
    QueuedPrompt,
    SessionOptions,
    Steer,
    Totals,
)
from bridle.core.queries import ListSessions, Status
from bridle.core.session_api import Receipt
from bridle.core.session_status import SessionStatus
from bridle.core.summary import SessionSummary, has_labels
from bridle.surfaces.rest.operation import Nothing, PlainRequest, ValidRequest, json_response, operation
from bridle.surfaces.rest.operations.fields import MAX_SAFE_INT, Keyed, Text, Traced
from bridle.surfaces.shared.error_codes import (
    DUPLICATE_INPUT,
    HOOK_DENIED,
    PROVIDER_ERROR,
    SESSION_BUSY,
    SESSION_NOT_RUNNING,
)
from bridle.surfaces.shared.run_driver import resume_if_interrupted
from bridle.surfaces.shared.session_calls import fork_session, origin, session_id_for_key
from bridle.system.dates import rfc3339

PAGE = 50
MAX_PAGE = 200


class SessionsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions to list."""

    q: Annotated[Text, Meta(description="Text in the title, the folder or the id.")] = ""
    label: Annotated[Text, Meta(description="Only those with this label, as `name=value`.")] = ""
    below: Annotated[Text, Meta(description="Only the forks and sub-agents of this session, and theirs.")] = (
        ""
    )
    archived: Annotated[bool, Meta(description="Include archived sessions.")] = False
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = PAGE
    before: Annotated[Text, Meta(description="The `next` of the previous page.")] = ""


class SessionPage(Struct, frozen=True):
    """A page of sessions, newest first."""

    sessions: list[SessionSummary]
    next: str | None
    """Pass it as `before` to get the next page; null on the last one."""


class SessionState(Struct, frozen=True):
    """The state of a session."""

    session_id: SessionId
    created_at: str
    updated_at: str
    message_count: int
    total_tokens: int
    title: str
    cwd: str
    agent: str
    model: str
    """The model of the next run; empty if the agent decides."""
    seq: int
    """The number of its newest record."""
    is_active: bool
    """True while a run is active, in any process."""
    run_id: RunId | None
    """The run whose end is not recorded."""
    outcome: Outcome | None
    """The outcome of the last run; null if another has started since."""
    archived: bool
    approvals: list[ApprovalRequested]
    """Approvals that wait for a `decide`."""
    questions: list[QuestionAsked]
    """Questions that wait for a `reply`."""
    queue: tuple[QueuedPrompt, ...]
    totals: Totals
    labels: dict[str, str]
    options: SessionOptions
    """The options that its next run starts with."""


@operation("GET", "/sessions", "list_sessions", "List sessions, newest first", SessionPage)
async def _list(request: ValidRequest[None, SessionsQuery, Nothing]) -> Response:
    query = request.query
    listed = await request.api.ask(ListSessions(archived=query.archived))
    if query.below:
        listed = _below(listed, SessionId(query.below))
    found = [session for session in listed if _fits(session, query.q) and _is_labelled(session, query.label)]
    found.sort(key=_place, reverse=True)
    if query.before:
        found = [session for session in found if _place(session) < query.before]
    page = found[: query.limit]
    return json_response(SessionPage(page, _place(page[-1]) if len(found) > len(page) else None))


def _below(sessions: Sequence[SessionSummary], root: SessionId) -> list[SessionSummary]:
    """Return all forks and sub-agents of a session, and those below them."""
    by_parent: dict[SessionId | None, list[SessionSummary]] = {}
    for session in sessions:
        by_parent.setdefault(session.parent, []).append(session)
    found = by_parent.pop(root, [])
    for session in found:  # the list grows during the loop
        found += by_parent.pop(session.id, [])
    return found


def _fits(session: SessionSummary, text: str) -> bool:
    return any(text.lower() in value.lower() for value in (session.title, session.cwd, session.id))


def _is_labelled(session: SessionSummary, label: str) -> bool:
    name, _, value = label.partition("=")
    return not label or has_labels(session, {name: value})


def _place(session: SessionSummary) -> str:
    """Return a sort key of a session, as text; it is also the page cursor."""
    return f"{session.updated_at:020d}-{session.id}"


@operation(
    "GET",
    "/sessions/{id}",
    "get_session",
    "Return the state of a session and what it waits for",
    SessionState,
)
async def _show(request: PlainRequest) -> Response:
    return json_response(_state(request.session, await request.api.ask(Status(request.session))))


def _state(session_id: SessionId, session: SessionStatus) -> SessionState:
    facts, run = session.facts, session.run
    return SessionState(
        session_id=session_id,
        created_at=rfc3339(facts.created_at),
        updated_at=rfc3339(session.updated_at),
        message_count=facts.totals.messages,
        total_tokens=facts.totals.usage.context,
        title=facts.title,
        cwd=facts.created.cwd,
        agent=facts.created.agent,
        model=facts.model,
        seq=session.seq,
        is_active=session.is_running,
        run_id=run.run_id if run is not None else None,
        outcome=session.last.outcome if session.last is not None and run is None else None,
        archived=facts.archived,
        approvals=list(run.approvals) if run is not None else [],
        questions=list(run.questions) if run is not None else [],
        queue=facts.queue,
        totals=facts.totals,
        labels=facts.labels,
        options=facts.settings,
    )


# ---------------------------------------------------------------------------- commands


@operation(
    "POST",
    "/sessions/{id}/commands",
    "command",
    "Submit a command to a session: prompt, steer, decide, reply, cancel, rewind or any other",
    Receipt,
    problems=(SESSION_BUSY, SESSION_NOT_RUNNING, DUPLICATE_INPUT, PROVIDER_ERROR, HOOK_DENIED),
)
async def _command(request: ValidRequest[Command, Nothing, Traced]) -> Response:
    command = _traced(_keyed(request.body, request.headers.idempotency_key), request.headers.trace)
    receipt = await request.api.submit(request.session, command)
    await resume_if_interrupted(request.api, request.session, receipt)
    return json_response(receipt)


def _keyed(command: Command, key: str) -> Command:
    if not key:
        return command
    if not isinstance(command, Prompt | Steer):
        raise UsageError("header: idempotency-key: only a prompt and a steer can have one")
    if command.key not in ("", key):
        raise UsageError("header: idempotency-key: the command has another key")
    return replace(command, key=key)


def _traced(command: Command, trace: str) -> Command:
    if not trace or not isinstance(command, Prompt) or command.options.trace:
        return command
    return replace(command, options=replace(command.options, trace=trace))


# ---------------------------------------------------------------------------- fork and delete


class Fork(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to fork the session."""

    at: Annotated[int, Meta(ge=1, le=MAX_SAFE_INT)] | None = None
    """The last record to copy; all if null."""
    messages: Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)] | None = None
    """How many messages to copy, the oldest first; all if null."""


class Forked(Struct, frozen=True):
    """The new session."""

    session_id: SessionId
    parent: SessionId


@operation(
    "POST",
    "/sessions/{id}/fork",
    "fork",
    "Start a session with the messages of another one",
    Forked,
    status=201,
    problems=(DUPLICATE_INPUT,),
)
async def _fork(request: ValidRequest[Fork, Nothing, Keyed]) -> Response:
    key, at, messages = request.headers.idempotency_key, request.body.at, request.body.messages
    wanted = session_id_for_key("fork", key) if key else None
    try:
        child = await fork_session(request.api, request.session, at, messages=messages, session_id=wanted)
    except SessionConflict:
        if wanted is None:
            raise
        created = await origin(request.api, wanted)
        if created.parent != request.session or at not in (None, created.forked_at):
            raise KeyTaken(f'the key "{key}" belongs to another fork', hint="use a new key") from None
        child = wanted
    return json_response(Forked(child, request.session), 201, {"location": f"/sessions/{child}"})


@operation(
    "DELETE",
    "/sessions/{id}",
    "delete_session",
    "Delete a session and its sub-agents",
    status=204,
    problems=(SESSION_BUSY,),
)
async def _delete(request: PlainRequest) -> Response:
    await origin(request.api, request.session)  # raises if there is no such session
    await request.api.submit(request.session, Delete())
    return Response(status_code=204)


OPERATIONS = (
    _list,
    _show,
    _command,
    _fork,
    _delete,
)
