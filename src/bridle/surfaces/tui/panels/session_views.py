"""Data about sessions that takes more than one query: points to rewind to, sub-agents, usage."""

import asyncio
from collections.abc import Callable, Sequence

from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.ids import SessionId
from bridle.core.protocol import FilesChanged, MessageAdded, Record, RunStarted, TurnEnded
from bridle.core.queries import ListSessions, Records, Status
from bridle.core.session_api import SessionApi
from bridle.core.session_status import SessionStatus
from bridle.core.summary import SessionSummary
from bridle.core.transcript import drop_rewound
from bridle.core.turns import last_rewind
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.session_calls import export_session
from bridle.surfaces.shared.usage import Stats, count_session_usage
from bridle.surfaces.tui.panels.host import Child, Point

MOST_CHILDREN = 200


class ApiSessionViews:
    """Implements `SessionViews`; calls `api` each time, because a restarted daemon has a new session API."""

    def __init__(self, api: Callable[[], SessionApi]) -> None:
        self._api = api

    async def points(self, session: SessionId) -> Sequence[Point]:
        """Return the points to rewind to, newest first."""
        return await asyncio.to_thread(points_in, await self._api().ask(Records(session)))

    async def children(self, session: SessionId) -> Sequence[Child]:
        """Return the sub-agents of a session and their descendants, each parent before its children."""
        api = self._api()
        below = descendants(session, await api.ask(ListSessions(archived=True)))[:MOST_CHILDREN]
        children = []
        for one in below:
            try:
                children.append(_child(one, await api.ask(Status(one.id))))
            except SessionNotFound:  # it was just deleted
                continue
        return children

    async def usage(self, session: SessionId) -> Stats:
        """Return the usage of a session and its sub-agents."""
        return await count_session_usage(self._api(), session)

    async def export(self, session: SessionId, form: Format) -> str:
        """Return a session as a document."""
        return await export_session(self._api(), session, form)


def points_in(records: Sequence[Record]) -> list[Point]:
    """Return the point before the last rewind, if any, then those of the remaining prompts, newest first."""
    points: list[Point] = []
    starts = False
    begin, prompt, at, turns, files = 0, "", 0, 0, 0

    def close() -> None:
        if begin:
            points.append(Point(begin, at, prompt, turns, files))

    for record in drop_rewound(records):
        match record.event:
            case RunStarted():
                close()
                starts, begin, prompt, at, turns, files = True, record.seq - 1, "", record.at, 0, 0
            case MessageAdded() as added if starts:
                prompt, starts = added.message.text, False
            case TurnEnded():
                turns += 1
            case FilesChanged() as changed:
                files += len(changed.changes)
            case _:
                pass
    close()
    return [*_undo(records), *reversed(points)]


def _undo(records: Sequence[Record]) -> list[Point]:
    try:
        seq = last_rewind(records)
    except UsageError:
        return []
    return [Point(seq, records[seq].at, "", undo=True)]


def descendants(session: SessionId, sessions: Sequence[SessionSummary]) -> list[SessionSummary]:
    """Return the descendants of a session in order of creation, each followed by its own descendants."""
    below: dict[SessionId | None, list[SessionSummary]] = {}
    for one in sorted(sessions, key=lambda one: (one.created_at, one.id), reverse=True):
        if one.sub_agent:
            below.setdefault(one.parent, []).append(one)
    found: list[SessionSummary] = []
    seen = {session}
    waiting = below.get(session, [])[:]
    while waiting:
        one = waiting.pop()
        if one.id not in seen:
            seen.add(one.id)
            found.append(one)
            waiting += below.get(one.id, [])
    return found


def _child(summary: SessionSummary, status: SessionStatus) -> Child:
    name, _, task = summary.title.partition(": ")
    totals = status.facts.totals
    run = status.run
    return Child(
        id=summary.id,
        parent=summary.parent or summary.id,
        name=name or summary.agent,
        task=task,
        agent=summary.agent,
        model=status.facts.model,
        running=status.is_running,
        outcome=summary.outcome if run is None else None,
        turns=totals.turns,
        tokens=totals.usage.context,
        cost=None if totals.unpriced_turns else totals.cost,
    )
