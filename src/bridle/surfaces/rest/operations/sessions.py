"""Operations that list sessions and return a session's state."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import ApprovalRequested, Outcome, QuestionAsked, QueuedPrompt, Totals
from bridle.core.queries import ListSessions, Status
from bridle.core.session_status import SessionStatus
from bridle.core.summary import SessionSummary
from bridle.surfaces.rest.operation import Nothing, Operation, ValidRequest, json_response
from bridle.surfaces.rest.operations.fields import Text
from bridle.system.dates import rfc3339

PAGE = 50
MAX_PAGE = 200


class SessionsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions to list."""

    q: Annotated[Text, Meta(description="A text in the title, the folder or the id.")] = ""
    below: Annotated[Text, Meta(description="Only forks and sub-agents of this session, and theirs.")] = ""
    archived: Annotated[bool, Meta(description="Also those that were put away.")] = False
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = PAGE
    before: Annotated[Text, Meta(description="The `next` of the page before.")] = ""


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
    """The model of the last run; empty before the first."""
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


async def _list(ask: ValidRequest[None, SessionsQuery, Nothing]) -> Response:
    query = ask.query
    listed = await ask.api.ask(ListSessions(archived=query.archived))
    if query.below:
        listed = _below(listed, SessionId(query.below))
    found = [session for session in listed if _fits(session, query.q)]
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


def _place(session: SessionSummary) -> str:
    """Return a sort key of a session, as text; it is also the page cursor."""
    return f"{session.updated_at:020d}-{session.id}"


async def _show(ask: ValidRequest[None, Nothing, Nothing]) -> Response:
    return json_response(_state(ask.session, await ask.api.ask(Status(ask.session))))


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
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/sessions",
        name="list_sessions",
        summary="List sessions, newest first",
        query=SessionsQuery,
        answers=SessionPage,
        handler=_list,
    ),
    Operation(
        method="GET",
        path="/sessions/{id}",
        name="get_session",
        summary="Say how a session is, and what it waits for",
        answers=SessionState,
        handler=_show,
    ),
)
