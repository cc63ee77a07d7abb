"""Runs a task at every other worker for as long as that worker lives."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.session_api import SessionApi, SessionNews
from bridle.scale.member_cache import MemberCache
from bridle.scale.peer_connections import PeerConnections

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
