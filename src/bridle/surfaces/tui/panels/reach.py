"""Reaching sessions through a door, for panels."""

import asyncio
from collections.abc import Callable, Sequence

from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.glance import Glance
from bridle.core.ids import SessionId
from bridle.core.protocol import Command, Delete, FilesChanged, MessageAdded, Record, RunStarted, TurnEnded
from bridle.core.queries import (
    Describe,
    ListSessions,
    NextContext,
    PlanRewind,
    PreviewContext,
    Records,
    RewindPlan,
    Status,
)
from bridle.core.revision import FileChange
from bridle.core.server_views import ServerView
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.summary import SessionSummary
from bridle.core.transcript import live
from bridle.core.turns import last_rewind
from bridle.surfaces.export import Format
from bridle.surfaces.folder import AgentRow, Folders, ModelView
from bridle.surfaces.looking import Diff, Looking
from bridle.surfaces.session_calls import fork_session
from bridle.surfaces.tui.panels.hands import Child, Point
from bridle.surfaces.usage import Stats

MOST_CHILDREN = 200


class DoorReach:
    """Is the `Reach` of panels; `door` is asked each time, since it changes when the daemon is back."""

    def __init__(self, api: Callable[[], SessionApi], folders: Folders) -> None:
        self._api = api
        self._folders = folders

    @property
    def _looking(self) -> Looking:
        return Looking(self._api(), self._folders)

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session."""
        return await self._api().submit(session, command)

    async def fork(self, session: SessionId, at: int | None = None) -> SessionId:
        """Begin a child session with the messages up to a record, or with all of them."""
        return await fork_session(self._api(), session, at)

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good."""
        await self._api().submit(session, Delete())

    async def sessions(self, *, archived: bool = False) -> Sequence[SessionSummary]:
        """Return a line of every session, newest first; archived ones only if asked."""
        return await self._api().ask(ListSessions(archived=archived))

    async def glance(self, session: SessionId) -> Glance:
        """Say how a session is; its last answer is there too."""
        return await self._api().ask(Status(session))

    async def points(self, session: SessionId) -> Sequence[Point]:
        """Return where one can go back to, newest first."""
        return await asyncio.to_thread(points_in, await self._api().ask(Records(session)))

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        """Say what going back would do to the files."""
        return await self._api().ask(PlanRewind(session, to_seq))

    async def describe(self, changes: Sequence[FileChange]) -> str:
        """Show changes of files as a diff."""
        return await self._api().ask(Describe(changes))

    async def diff(self, session: SessionId, after: int = 0, upto: int | None = None) -> Diff:
        """Return what a session changed on disk."""
        return await self._looking.diff(session, after, upto)

    async def context(self, session: SessionId) -> NextContext:
        """Return what the next turn would send."""
        return await self._api().ask(PreviewContext(session))

    async def usage(self, session: SessionId) -> Stats:
        """Return what a session and its sub-agents have used."""
        return await self._looking.usage(session)

    async def children(self, session: SessionId) -> Sequence[Child]:
        """Return the sub-agents of a session and those below them, a parent before its children."""
        api = self._api()
        below = descendants(session, await api.ask(ListSessions(archived=True)))[:MOST_CHILDREN]
        children = []
        for one in below:
            try:
                children.append(_child(one, await api.ask(Status(one.id))))
            except SessionNotFound:  # deleted meanwhile
                continue
        return children

    async def models(self, cwd: str = "") -> Sequence[ModelView]:
        """Return every model that has a name, also those without a key."""
        return [model for model in await self._looking.models(cwd, every=True) if model.kind != "scripted"]

    async def agents(self, cwd: str = "") -> Sequence[AgentRow]:
        """Return the agents of a folder."""
        return await self._looking.agents(cwd)

    async def servers(self, cwd: str = "") -> Sequence[ServerView]:
        """Say how the tool servers and language servers of a folder are."""
        return await self._looking.servers(cwd)

    async def export(self, session: SessionId, form: Format) -> str:
        """Return a session as a document."""
        return await self._looking.export(session, form)


def points_in(records: Sequence[Record]) -> list[Point]:
    """Return the prompts that the conversation still has, newest first, and before them the last rewind."""
    points: list[Point] = []
    starts = False
    begin, prompt, at, turns, files = 0, "", 0, 0, 0

    def close() -> None:
        if begin:
            points.append(Point(begin, at, prompt, turns, files))

    for record in live(records).records:
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
    """Return the sub-agents below a session in the order they began, each followed by those below it."""
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


def _child(summary: SessionSummary, glance: Glance) -> Child:
    name, _, task = summary.title.partition(": ")
    totals = glance.facts.totals
    run = glance.run
    return Child(
        id=summary.id,
        parent=summary.parent or summary.id,
        name=name or summary.agent,
        task=task,
        agent=summary.agent,
        model=glance.facts.model,
        running=glance.is_running,
        outcome=summary.outcome if run is None else None,
        turns=totals.turns,
        tokens=totals.usage.context,
        cost=None if totals.unpriced_turns else totals.cost,
    )
