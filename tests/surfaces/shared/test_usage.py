import time
from typing import Any

import pytest

from bridle.core.errors import ConfigError, SessionNotFound, StoreCorrupt
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import ChildStarted, Record, RunEnded, RunStarted, SessionCreated
from bridle.core.queries import ListSessions, Records
from bridle.core.summary import SessionSummary
from bridle.surfaces.shared.usage import UsageCounter, count_all_usage, count_session_usage, time_before

PARENT, CHILD, GONE, BROKEN = map(SessionId, ("parent", "child", "gone", "broken"))


def records(session: SessionId, *children: SessionId) -> list[Record]:
    run = RunId(f"run of {session}")
    started = [ChildStarted(child, child, "task") for child in children]
    events = [SessionCreated(session, "/"), RunStarted(run, "m"), *started, RunEnded(run, "completed")]
    return [Record(seq, 1_000 * seq, event, "") for seq, event in enumerate(events, 1)]


STORED = {PARENT: records(PARENT, CHILD, GONE, BROKEN, CHILD), CHILD: records(CHILD, PARENT)}


async def read(session: SessionId) -> list[Record]:
    if session == BROKEN:
        raise StoreCorrupt("edited")
    if session == GONE:
        raise SessionNotFound("gone")
    return STORED[session]


def summary(session: SessionId, updated_at: int) -> SessionSummary:
    return SessionSummary(session, "", "/", "default", 0, updated_at, 1)


async def test_a_session_is_counted_with_its_sub_agents_once_each():
    left_out: list[SessionId] = []
    counting = UsageCounter(read, lambda session, error: left_out.append(session))

    await counting.add_tree(summary(PARENT, 0))

    assert (counting.stats.sessions, counting.stats.runs) == (2, {"completed": 2})
    assert left_out == [BROKEN]


async def test_only_sessions_of_the_time_are_read():
    counting = UsageCounter(read, lambda session, error: None, since=500)

    await counting.add_all([summary(PARENT, 499), summary(CHILD, 500)])

    assert counting.stats.sessions == 1


def test_a_duration_is_counted_back_from_now():
    before = time.time() * 1000

    assert before - 7_200_000 - 1 <= time_before("2h") <= time.time() * 1000 - 7_200_000
    with pytest.raises(ConfigError):
        time_before("yesterday")


class Shelf:
    """The session API's view of the stored sessions."""

    async def ask(self, query: Records | ListSessions) -> Any:
        if isinstance(query, Records):
            return await read(query.session)
        kept = [summary(PARENT, 5), summary(BROKEN, 5)]
        return [*kept, summary(CHILD, 5)] if query.archived else kept


async def test_all_sessions_are_counted_and_those_that_cannot_be_read_are_named():
    shelf: Any = Shelf()
    kept, every = await count_all_usage(shelf), await count_all_usage(shelf, archived=True)
    none = await count_all_usage(shelf, since=6)

    assert (kept.sessions, kept.left_out) == (1, [BROKEN])
    assert (every.sessions, every.left_out) == (2, [BROKEN])
    assert (none.sessions, none.left_out) == (0, [])


async def test_one_session_is_counted_if_its_own_records_can_be_read():
    shelf: Any = Shelf()

    assert (await count_session_usage(shelf, PARENT)).sessions == 2  # a sub-agent that is broken is left out
    with pytest.raises(StoreCorrupt):
        await count_session_usage(shelf, BROKEN)
    with pytest.raises(SessionNotFound, match='no session "gone"'):
        await count_session_usage(shelf, GONE)
