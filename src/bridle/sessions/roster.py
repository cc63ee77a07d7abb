"""The live sessions of this process: opened when somebody needs them, put away when nobody does."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Literal

from bridle.core.errors import SessionNotRunning
from bridle.core.ids import SessionId, is_session_id
from bridle.core.session_api import LiveSession, SessionNews
from bridle.core.tenancy import tenant_of
from bridle.sessions.actor import Actor
from bridle.sessions.bus import Bus
from bridle.sessions.children import Family
from bridle.sessions.engine import Engine
from bridle.sessions.journal import open_journal
from bridle.sessions.watching import no_session
from bridle.system import tenant


class Roster:
    """Keeps one actor for each session that is in memory."""

    def __init__(self, engine: Engine, bus: Bus, family: Family) -> None:
        self._engine = engine
        self._bus = bus
        self._family = family
        self._actors: dict[SessionId, Actor] = {}
        self._opening = asyncio.Lock()  # invariant: at most one actor per session
        self._is_parked = False

    def get(self, session: SessionId) -> Actor | None:
        """Return who owns a session, if it is in memory."""
        return self._actors.get(session)

    async def open(self, session: SessionId) -> Actor:
        """Return who owns a session, which comes into memory; raises SessionNotFound, SessionNotRunning."""
        require_name(session)
        async with self._opening:
            actor = self._actors.get(session)
            if actor is not None and actor.journal.is_stale and not actor.is_used:
                await self.close(session)
                actor = None
            return actor or await self._open(session)

    async def _open(self, session: SessionId) -> Actor:
        if self._is_parked:  # what began now would be cancelled at the end of the process
            raise SessionNotRunning(f"session {session} takes no commands: its engine shuts down")
        if len(self._actors) >= self._engine.max_live:  # nobody sweeps but in the daemon
            await self._drop_idle(float("inf"), self._engine.max_live - 1)
        journal = await open_journal(session, self._engine.store, self._bus, self._engine.clock)
        context = copy_context()  # what the actor's tasks keep is its tenant's
        context.run(tenant.current.set, tenant_of(session))
        actor = self._actors[session] = context.run(Actor, self._engine, journal, self._family)
        return actor

    def live(self) -> Sequence[LiveSession]:
        """Return the sessions that are in memory, those that run first."""
        found = [_describe(actor, self._bus.watchers(session)) for session, actor in self._actors.items()]
        return sorted(found, key=lambda one: (one.state == "idle", one.since))

    async def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield how every session in memory is, and from then on each that changes; never ends by itself.

        A reader that falls behind hears of a session once, as it is by then.
        """
        roll = self._bus.open_roll(self._actors)
        told: dict[SessionId, SessionNews] = {}
        try:
            while True:
                for session, deleted in (await roll.take()).items():
                    actor = self._actors.get(session)
                    live = None if actor is None else _describe(actor, 0)
                    news = SessionNews(session, live, deleted)
                    if news != told.get(session) or live is None:
                        told[session] = news
                        yield news
                    if live is None:
                        del told[session]
        finally:
            self._bus.close_roll(roll)

    async def drop_idle(self, idle_s: float, most: int) -> None:
        """Close sessions that nobody has used or watched for a time, and the longest idle of too many."""
        async with self._opening:
            await self._drop_idle(idle_s, most)

    async def _drop_idle(self, idle_s: float, most: int) -> None:
        idle = sorted(
            (actor.idle_s, session)
            for session, actor in self._actors.items()
            if actor.idle_s and not self._bus.watchers(session)
        )
        too_many = len(self._actors) - most
        for number, (since_s, session) in enumerate(reversed(idle)):
            if since_s >= idle_s or number < too_many:
                await self.close(session)

    async def park(self, timeout_s: float) -> None:
        """Give active runs a time to end, then leave them as they are recorded: they can be resumed."""
        running = [actor for actor in self._actors.values() if actor.is_busy and not actor.waits_for_a_person]
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await asyncio.gather(*(actor.runs.until_free() for actor in running))
        self._family.park()
        parked = list(self._actors.values())
        await asyncio.gather(*(actor.park() for actor in parked))
        self._is_parked = True
        late = [actor for actor in self._actors.values() if actor not in parked]
        await asyncio.gather(*(actor.park() for actor in late))
        await self._family.aclose()

    async def set_aside(self, session: SessionId) -> None:
        """Let go of a session and leave its run, if one is active, as it is recorded: it can be resumed.

        So are the sub-agents of the run; one of them is only set aside together with it.
        """
        async with self._opening:
            actor = self._actors.pop(session, None)
        self._family.park(session)
        if actor is not None:
            await actor.park()
            await self._family.aclose(session)
            await actor.aclose()
            self._bus.announce(session)

    async def let_go(self, session: SessionId) -> None:
        """Close a session in this process: what it holds ends, a run that is active too."""
        async with self._opening:
            actor = self._actors.pop(session, None)
        if actor is not None:  # not under the lock: its sub-agents are closed through here too
            await actor.aclose()
            self._bus.announce(session)

    async def let_go_unused(self, session: SessionId) -> None:
        """Close a session in this process, unless a command is being taken or a run is active."""
        async with self._opening:  # or a command might come between the look and the closing
            actor = self._actors.get(session)
            if actor is None or actor.is_used:
                return
            del self._actors[session]
        await actor.aclose()
        self._bus.announce(session)

    async def close(self, session: SessionId) -> None:
        """Close a session that is in memory, and of which nobody wants anything meanwhile."""
        await self._actors.pop(session).aclose()
        self._bus.announce(session)

    async def aclose(self) -> None:
        """Close every session: active runs are cancelled, and their ends recorded."""
        async with self._opening:
            actors, self._actors = list(self._actors.values()), {}
        async with asyncio.TaskGroup() as group:
            for actor in actors:
                group.create_task(actor.aclose())


def require_name(session: SessionId) -> None:
    """Refuse what cannot name a session: claims and stores make paths of names."""
    if not is_session_id(session):
        raise no_session(session)


def _describe(actor: Actor, watchers: int) -> LiveSession:
    session = actor.journal.session
    created, run = session.known.created, session.run if actor.is_busy else None
    state: Literal["running", "waiting", "idle"] = "idle" if run is None else "running"
    return LiveSession(
        id=actor.journal.id,
        title=session.known.title,
        cwd=created.cwd,
        agent=created.agent,
        state="waiting" if actor.waits_for_a_person else state,
        model=run.model if run is not None else session.known.model,
        watchers=watchers,
        since=run.started_at if run is not None else session.updated_at,
    )
