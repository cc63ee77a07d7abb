"""The session API of a cluster: all its sessions, on whichever machine they run.

This process reads stored data itself. A command or query that needs a session's run, tools or folder goes to
the worker that drives the session, or to one that can.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, TypeVar, overload

from msgspec.structs import replace

from bridle.core.errors import BridleError, NotDrivenHere, SessionBusy
from bridle.core.ids import SessionId
from bridle.core.messages import Message
from bridle.core.ports import ToolDispatcher
from bridle.core.protocol import LIKE_AGENT, AnyCommand, Delete, Delta, Fork, Record, SessionOptions
from bridle.core.queries import IsRunning, ListSessions, Query, Status
from bridle.core.session_api import Receipt, SessionApi, SessionNews
from bridle.core.session_status import SessionStatus
from bridle.scale.assignments import JobRunner
from bridle.scale.command_router import CommandRouter
from bridle.scale.members import MemberCache
from bridle.scale.peer_connections import PeerConnections
from bridle.sessions.service import SessionService
from bridle.stores.postgres.store import PostgresStore
from bridle.system.current_tenant import current

# ---------------------------------------------------------------------------- worker tasks
# Runs a task at every other worker for as long as that worker lives.


LOOK_S = 1.0  # between checks for new workers
SETTLE_S = 5.0  # the longest wait for known workers

Work = Callable[[str, SessionApi, Callable[[], None]], Awaitable[None]]
"""Takes a worker's name and its session API; lasts until cancelled; calls back once it is in place."""


class WorkerTasks:
    """Keeps one task for each worker except our own."""

    def __init__(self, roster: MemberCache, peers: PeerConnections, me: str, work: Work) -> None:
        self._roster = roster
        self._peers = peers
        self._me = me
        self._work = work
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._settled: dict[str, asyncio.Event] = {}
        self._has_looked = asyncio.Event()

    async def keep(self) -> None:
        """Run the task at every worker, including those that join later, until cancelled."""
        try:
            with suppress(BridleError):
                await self._roster.reread()  # a worker that has just joined may get the next run
            while True:
                with suppress(BridleError):
                    await self._look()
                self._has_looked.set()
                await asyncio.sleep(LOOK_S)
        finally:
            for task in self._tasks.values():
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks.values())

    async def settled(self) -> None:
        """Wait until the task is set up at every reachable worker; at most `SETTLE_S`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await self._has_looked.wait()
                for settled in list(self._settled.values()):
                    await settled.wait()

    async def _look(self) -> None:
        for member in await self._roster.workers():
            task = self._tasks.get(member.id)
            if member.id != self._me and (task is None or task.done()):
                settled = self._settled.setdefault(member.id, asyncio.Event())
                self._tasks[member.id] = asyncio.create_task(self._at(member.id, member.address, settled))

    async def _at(self, worker: str, address: str, settled: asyncio.Event) -> None:
        try:
            with suppress(BridleError, OSError):  # retried as long as the worker lives
                await self._work(worker, await self._peers.api(address), settled.set)
        finally:
            settled.set()


class NewsMerger:
    """Collects the session news of all workers, merged to the latest for each session."""

    def __init__(self) -> None:
        self._news: dict[SessionId, SessionNews] = {}
        self._at: dict[SessionId, str] = {}
        self._waiting = asyncio.Event()

    async def take(self) -> list[SessionNews]:
        """Wait for news and return them."""
        await self._waiting.wait()
        self._waiting.clear()
        news, self._news = list(self._news.values()), {}
        return news

    async def listen(self, worker: str, api: SessionApi, in_place: Callable[[], None]) -> None:
        """Collect the news of one worker; once it is gone, report its sessions as no longer in memory."""
        try:
            in_place()
            async with aclosing(api.watch(None)) as items:
                async for news in items:
                    self._add(worker, news)
        finally:
            for session in [session for session, at in self._at.items() if at == worker]:
                self._add(worker, SessionNews(session))

    def _add(self, worker: str, news: SessionNews) -> None:
        is_over = news.live is None
        if is_over and self._at.get(news.session, worker) != worker and not news.deleted:
            return  # another worker has it by now
        if is_over:
            self._at.pop(news.session, None)
        else:
            self._at[news.session] = worker
        self._news[news.session] = news
        self._waiting.set()


# ---------------------------------------------------------------------------- cluster api


A = TypeVar("A")


class ClusterApi:
    """Serves the sessions of all machines of a cluster."""

    is_remote = True

    def __init__(
        self,
        service: SessionService,
        store: PostgresStore,
        routing: CommandRouter,
        roster: MemberCache,
        peers: PeerConnections,
        *,
        me: str,
        runner: JobRunner | None = None,
    ) -> None:
        """Set the parts; `assignments` runs the jobs of this process if it is a worker."""
        self._me = me
        self._store = store
        self._service = service
        self._routing = routing
        self._roster = roster
        self._peers = peers
        self._runner = runner

    async def create(
        self,
        *,
        cwd: str,
        agent: str = "",
        title: str = "",
        session_id: SessionId | None = None,
        options: SessionOptions = LIKE_AGENT,
        messages: Sequence[Message] = (),
        labels: Mapping[str, str] = {},
    ) -> SessionId:
        """Create a session with an agent, or the default one, and the options of its runs."""
        return await self._service.create(
            cwd=cwd,
            agent=agent,
            title=title,
            session_id=session_id,
            options=options,
            messages=messages,
            labels=labels,
        )

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        """Submit a command to a session; raises SessionError if it is refused."""
        if isinstance(command, Delete) and (await self._status(session)).is_running:
            raise SessionBusy(f"session {session} is running", hint="cancel the run first")
        if isinstance(command, Fork | Delete):
            return await self._service.submit(session, command)
        if self._runner is not None:
            with suppress(NotDrivenHere):
                return await self._runner.submit(session, command)
        return await self._routing.submit(session, command, await self._service.ask(Status(session)))

    # ------------------------------------------------------------------ queries

    async def ask(self, query: Query[A]) -> A:
        """Answer a query here, or send it to a worker that can answer it; raises BridleError."""
        answer: Any
        match query:
            case ListSessions():
                answer = await self._store.list(archived=query.archived, tenant=current.get() or None)
            case Status():
                answer = await self._status(query.session)
            case IsRunning():
                answer = (await self._status(query.session)).is_running
            case _:
                answer = await (await self._answerer(query)).ask(query)
        return answer  # type: ignore[no-any-return]  # the type that the query declares

    async def _status(self, session: SessionId) -> SessionStatus:
        """Return the status of a session.

        A run that waits for a person counts as running, although no worker may hold it meanwhile. An
        unfinished run of a CLI command that has ended does not.
        """
        status = await self._service.ask(Status(session))
        if status.run is None or status.is_running:
            return status
        waits = bool(status.run.approvals or status.run.questions)
        return replace(status, is_running=waits or await self._routing.has_job(session))

    async def _answerer(self, query: Query[Any]) -> SessionApi:
        match query.answered_by:
            case "any":
                return self._service
            case "owner":
                return await self._owner(query.session)  # type: ignore[attr-defined]  # they all have one
            case "worker":
                return await self._routing.find_worker() or self._service

    async def _owner(self, session: SessionId) -> SessionApi:
        """Return the worker that drives a session, or one that can; this process if there is none."""
        try:
            if (api := await self._routing.api_of(session)) is not None:
                return api
        except OSError:
            pass  # the worker is gone; the cluster will detect that soon
        return await self._routing.find_worker(session) or self._service

    # ------------------------------------------------------------------ all workers at once

    @asynccontextmanager
    async def provide_tools(self, session: SessionId, dispatcher: ToolDispatcher) -> AsyncIterator[None]:
        """Let the session's runs call tools of the caller while the context is open.

        Every worker gets them, also one that joins later, because any worker may take over the session.
        """

        async def provide(worker: str, api: SessionApi, in_place: Callable[[], None]) -> None:
            async with api.provide_tools(session, dispatcher):
                in_place()
                await asyncio.Event().wait()  # until cancelled

        async with self._service.provide_tools(session, dispatcher):
            everywhere = WorkerTasks(self._roster, self._peers, self._me, provide)
            keeping = asyncio.create_task(everywhere.keep())
            try:
                await everywhere.settled()
                yield
            finally:
                keeping.cancel()
                await asyncio.wait([keeping])

    @overload
    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]: ...

    @overload
    def watch(self, session: None) -> AsyncGenerator[SessionNews, None]: ...

    def watch(self, session: SessionId | None, after: int | None = 0) -> AsyncGenerator[Any, None]:
        """Yield the records and deltas of a session; with None, the news of every session."""
        return self._watch_all() if session is None else self._service.watch(session, after)

    async def _watch_all(self) -> AsyncGenerator[SessionNews, None]:
        """Yield the state of the sessions in memory on all machines, then each change."""
        merger = NewsMerger()
        everywhere = WorkerTasks(self._roster, self._peers, self._me, merger.listen)
        here = merger.listen(self._me, self._service, lambda: None)
        tasks = [asyncio.create_task(here), asyncio.create_task(everywhere.keep())]
        try:
            while True:
                for news in await merger.take():
                    yield news
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def aclose(self) -> None:
        """Do nothing: the code that opened the cluster closes it."""
