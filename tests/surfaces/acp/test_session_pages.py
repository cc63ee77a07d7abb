"""The list of sessions."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.summary import SessionSummary
from bridle.surfaces.acp.agent import page_of


def summary(name: str, at: int, *, last_seq: int = 2, **facts: object) -> SessionSummary:
    return SessionSummary(SessionId(name), "", "/a", "default", 0, at, last_seq, **facts)  # type: ignore[arg-type]


def test_sub_agents_empty_sessions_and_what_was_put_away_are_not_listed():
    sessions = [
        summary("old", 1_000),
        summary("new", 61_500, parent=SessionId("old")),
        summary("child", 2, sub_agent=True),
        summary("away", 3, archived=True),
        summary("empty", 4, last_seq=1),
    ]

    page = page_of(sessions, "/a", None)

    assert [(one.session_id, one.updated_at) for one in page.sessions] == [
        ("new", "1970-01-01T00:01:01.500Z"),
        ("old", "1970-01-01T00:00:01.000Z"),
    ]
    assert page.next_cursor is None
    assert page_of(sessions, "/b", None).sessions == []


def test_pages_follow_each_other():
    sessions = [summary(f"s{number}", number // 7) for number in range(250)]
    seen, cursor = [], None
    while True:
        page = page_of(sessions, None, cursor)
        seen += [one.session_id for one in page.sessions]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert len(seen) == 250
    assert set(seen) == {one.id for one in sessions}


@given(st.text(max_size=20))
def test_any_cursor_is_read_or_refused(cursor: str):
    with suppress(UsageError):
        assert page_of([summary("a", 1)], None, cursor).next_cursor is None


def test_a_cursor_that_was_not_given_out_is_refused():
    with pytest.raises(UsageError, match="unknown cursor"):
        page_of([], None, "bm8=")
