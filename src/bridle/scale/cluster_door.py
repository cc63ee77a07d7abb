"""A door to all sessions of a cluster, wherever they run.

What is stored this process reads itself. What needs a session's run, its tools or its folder is done by the
worker that drives it, or by one that takes it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from bridle.core.door import Door, NextContext, Receipt, RewindPlan, SessionNews
from bridle.core.errors import NotDrivenHere, SessionBusy
from bridle.core.glance import Glance
from bridle.core.ids import RunId, SessionId
from bridle.core.ports import ToolDispatcher
from bridle.core.protocol import Command, Delta, Record, RunEnded
from bridle.core.revision import FileChange
from bridle.core.servers import PromptView, ServerView
from bridle.core.session import Session
from bridle.core.summary import SessionSummary
from bridle.scale.everywhere import Everywhere, Heard
from bridle.scale.legs import Legs
from bridle.scale.peers import Peers
from bridle.scale.roster import Roster
from bridle.scale.routing import Routing
from bridle.sessions.service import SessionService
from bridle.stores.postgres.store import PostgresStore
from bridle.system.tenant import current


class ClusterDoor:
    """Sessions of many machines as if they were our own."""

    outlives_us = True

    def __init__(
        self,
        service: SessionService,
        store: PostgresStore,
        routing: Routing,
        roster: Roster,
        peers: Peers,
        *,
        me: str,
        legs: Legs | None = None,
    ) -> None:
        """Take the service of this process; `legs` are those it drives itself, if it is a worker, too."""
        self._me = me
        self._store = store
        self._service = service
        self._routing = routing
        self._roster = roster
        self._peers = peers
        self._legs = legs

    # ------------------------------------------------------------------ what is stored

    async def create(
        self, *, cwd: str, agent: str = "", title: str = "", session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a session with an agent, or the usual one; raises ConfigError for an unknown agent."""
        return await self._service.create(cwd=cwd, agent=agent, title=title, session_id=session_id)

    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between."""
        return self._service.watch(session, after)

    async def wait(self, session: SessionId, run_id: RunId, after: int = 0) -> RunEnded:
        """Wait for a run's end."""
        return await self._service.wait(session, run_id, after)

    async def read(self, session: SessionId) -> Session:
        """Return the whole session as stored."""
        return await self._service.read(session)

    async def records(self, session: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return stored records in order; raises SessionNotFound."""
        return await self._service.records(session, after, limit)

    async def list(self, *, archived: bool = False) -> Sequence[SessionSummary]:
        """Return a summary of every session, newest first; for a tenant those of its own."""
        return await self._store.list(archived=archived, tenant=current.get() or None)

    async def glance(self, session: SessionId) -> Glance:
        """Say how a session is, without its messages; raises SessionNotFound.

        A run that waits for a person is running, although no worker need hold it meanwhile. One that a
        command of the terminal has left behind is not.
        """
        glance = await self._service.glance(session)
        if glance.run is None or glance.is_running:
            return glance
        waits = bool(glance.run.approvals or glance.run.questions)
        return replace(glance, is_running=waits or await self._routing.is_seen_to(session))

    async def is_running(self, session: SessionId) -> bool:
        """Tell whether a run of the session is open and some worker drives it, or will."""
        return (await self.glance(session)).is_running

    async def fork(
        self, session: SessionId, at: int | None = None, *, session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a child session with the messages up to sequence number `at` (default: all)."""
        return await self._service.fork(session, at, session_id=session_id)

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good; raises SessionBusy while it runs."""
        if await self.is_running(session):
            raise SessionBusy(f"session {session} is running", hint="cancel the run first")
        await self._service.delete(session)

    # ------------------------------------------------------------------ what a worker does

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session; raises SessionError when it cannot be taken."""
        if self._legs is not None:
            with suppress(NotDrivenHere):
                return await self._legs.submit(session, command)
        return await self._routing.submit(session, command, await self._service.glance(session))

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        """Say what going back would do to the files, without doing it."""
        return await (await self._looking_after(session)).plan_rewind(session, to_seq)

    async def changes(
        self, session: SessionId, after: int = 0, upto: int | None = None
    ) -> Sequence[FileChange]:
        """Return what the session changed on disk with after < seq <= upto, as one step."""
        return await (await self._looking_after(session)).changes(session, after, upto)

    async def describe(self, changes: Sequence[FileChange]) -> str:
        """Show changes as a diff."""
        return await self._service.describe(changes)

    async def next_context(self, session: SessionId, at: int | None = None) -> NextContext:
        """Return what the next turn would send, without sending it, or would have sent after record `at`."""
        return await (await self._looking_after(session)).next_context(session, at)

    async def servers(self, cwd: str) -> Sequence[ServerView]:
        """Say how the tool servers and language servers of a folder are, without starting one."""
        return await (await self._routing.some_worker() or self._service).servers(cwd)

    async def server_prompts(self, cwd: str) -> Sequence[PromptView]:
        """Return the prompts of servers that a prompt can call as `/name`."""
        return await (await self._routing.some_worker() or self._service).server_prompts(cwd)

    async def _looking_after(self, session: SessionId) -> Door:
        """Return the door of a worker that drives a session, or may."""
        try:
            if (door := await self._routing.door_to(session)) is not None:
                return door
        except OSError:
            pass  # it is about to be known that it is gone
        return await self._routing.some_worker(session) or self._service

    # ------------------------------------------------------------------ all workers at once

    @asynccontextmanager
    async def lend(self, session: SessionId, dispatcher: ToolDispatcher) -> AsyncIterator[None]:
        """Let the runs of a session call tools of the caller's own, as long as the context is open.

        Every worker is lent them, as any may take the session; also those that come later.
        """

        async def lend(worker: str, door: Door, in_place: Callable[[], None]) -> None:
            async with door.lend(session, dispatcher):
                in_place()
                await asyncio.Event().wait()  # until it is taken back

        async with self._service.lend(session, dispatcher):
            everywhere = Everywhere(self._roster, self._peers, self._me, lend)
            keeping = asyncio.create_task(everywhere.keep())
            try:
                await everywhere.settled()
                yield
            finally:
                keeping.cancel()
                await asyncio.wait([keeping])

    async def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield how every session in memory is, on whichever machine, and from then on each that changes.

        Never ends by itself. A reader that falls behind hears of a session once, as it is by then.
        """
        heard = Heard()
        everywhere = Everywhere(self._roster, self._peers, self._me, heard.listen)
        here = heard.listen(self._me, self._service, lambda: None)
        tasks = [asyncio.create_task(here), asyncio.create_task(everywhere.keep())]
        try:
            while True:
                for news in await heard.take():
                    yield news
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def aclose(self) -> None:
        """Let go of nothing: whoever opened the cluster closes it."""
