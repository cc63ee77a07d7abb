"""The list of sessions for an editor, in pages."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from acp.schema import ListSessionsResponse, SessionInfo

from bridle.core.errors import UsageError
from bridle.core.summary import SessionSummary
from bridle.system.dates import rfc3339

PAGE = 100


def page_of(sessions: Sequence[SessionSummary], cwd: str | None, cursor: str | None) -> ListSessionsResponse:
    """Return sessions without sub-agents, last used first; raises UsageError for an invalid cursor.

    Editors create a session whenever they open a panel; sessions without messages are omitted.
    """
    wanted = [
        one
        for one in sessions
        if not one.sub_agent and not one.archived and cwd in (None, one.cwd) and one.last_seq > 1
    ]
    wanted.sort(key=_place, reverse=True)
    if cursor is not None:
        after = _read_cursor(cursor)
        wanted = [one for one in wanted if _place(one) < after]
    page, rest = wanted[:PAGE], wanted[PAGE:]
    return ListSessionsResponse(
        sessions=[
            SessionInfo(
                session_id=one.id, cwd=one.cwd, title=one.title or None, updated_at=rfc3339(one.updated_at)
            )
            for one in page
        ],
        next_cursor=_write_cursor(page[-1]) if rest else None,
    )


def _place(one: SessionSummary) -> tuple[int, str]:
    return one.updated_at, one.id


def _write_cursor(last: SessionSummary) -> str:
    return urlsafe_b64encode(f"{last.updated_at}:{last.id}".encode()).decode()


def _read_cursor(cursor: str) -> tuple[int, str]:
    try:
        at, _, name = urlsafe_b64decode(cursor.encode()).decode().partition(":")
        return int(at), name
    except ValueError:
        raise UsageError("the cursor is none that was given out") from None
