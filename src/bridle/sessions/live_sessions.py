"""The live sessions of this process: opened when needed, closed when idle."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Literal

from bridle.core.errors import SessionNotFound, SessionNotRunning
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import Store
from bridle.core.protocol import Delta, Lagged, Record
from bridle.core.session_api import LiveSession, SessionNews
from bridle.core.tenancy import tenant_of
from bridle.sessions.actor import Actor
from bridle.sessions.bus import FRAGMENT_DELTAS, Bus
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.engine import Engine
from bridle.sessions.journal import open_journal
from bridle.system import current_tenant

# ---------------------------------------------------------------------------- session watch
# Watching a session: stored records first, then live ones, each record once and in order.


async def watch_session(
    store: Store, bus: Bus, session: SessionId, after: int | None, *, pieces: bool
) -> AsyncGenerator[Record | Delta, None]:
    """Yield every record after `after`, or from the newest one for None, with deltas between; never ends.

    Without `pieces`, skip deltas whose content is recorded later. Raises SessionNotFound, also once the
    session is deleted.
    """
    subscription = bus.subscribe(session, pieces=pieces)
    seen = bus.position(session)
    try:
        after = await _start(store, session, after)
        for record in await store.read(session, after=after):
            after = record.seq
            yield record
        seen = seen or after
        while True:
            dropped, items = await subscription.take()
            if dropped:
                yield Lagged(dropped)
                for record in await store.read(session, after=after):
                    after = record.seq
                    yield record
                seen = after
            for item in items:
                if isinstance(item, FRAGMENT_DELTAS) and seen < after:
                    continue  # a fragment of a record that was already read as a whole
                if isinstance(item, Record):
                    seen = item.seq
                    if item.seq <= after:
                        continue
                    if item.seq > after + 1:  # another process has appended records
                        for record in await store.read(session, after=after, before=item.seq):
                            yield record
                    after = item.seq
                yield item
            if subscription.is_over:
                raise session_not_found(session)
    finally:
        bus.unsubscribe(session, subscription)


async def _start(store: Store, session: SessionId, after: int | None) -> int:
    """Return the number of the record after which a watch begins; raises SessionNotFound."""
    found = await store.read(session, limit=1, newest=after is None)
    if not found:
        raise session_not_found(session)
    return found[0].seq - 1 if after is None else after


def session_not_found(session: SessionId) -> SessionNotFound:
    """Return the error for an unknown session."""
    return SessionNotFound(f'no session "{session}"', hint="bridle session list")


# ---------------------------------------------------------------------------- live sessions


class LiveSessions:
    """Keeps one actor per session in memory."""

    def __init__(self, engine: Engine, bus: Bus, family: SubAgents) -> None:
        self._engine = engine
        self._bus = bus
        self._family = family
        self._actors: dict[SessionId, Actor] = {}
        self._opening = asyncio.Lock()  # invariant: at most one actor per session
        self._is_parked = False

    def get(self, session: SessionId) -> Actor | None:
        """Return a session's actor, if it is in memory."""
        return self._actors.get(session)

    async def open(self, session: SessionId) -> Actor:
        """Return a session's actor, loading it if needed; raises SessionNotFound, SessionNotRunning."""
        require_session_id(session)
        async with self._opening:
            actor = self._actors.get(session)
            if actor is not None and actor.journal.is_stale and not actor.is_used:
                await self.close(session)
                actor = None
            return actor or await self._open(session)

    async def _open(self, session: SessionId) -> Actor:
        if self._is_parked:  # a run that starts now would be cancelled when the process ends
            raise SessionNotRunning(f"session {session} accepts no commands: its engine is shutting down")
        max_sessions = self._engine.settings.serve.max_sessions
        if len(self._actors) >= max_sessions:  # only the daemon calls drop_idle regularly
            await self._drop_idle(float("inf"), max_sessions - 1)
        journal = await open_journal(session, self._engine.store, self._bus, self._engine.clock)
        context = copy_context()  # so the actor's tasks keep their own tenant
        context.run(current_tenant.current.set, tenant_of(session))
        actor = self._actors[session] = context.run(Actor, self._engine, journal, self._family)
        return actor

    def live(self) -> Sequence[LiveSession]:
        """Return the sessions in memory, running ones first."""
        found = [_describe(actor, self._bus.watchers(session)) for session, actor in self._actors.items()]
        return sorted(found, key=lambda one: (one.state == "idle", one.since))

    async def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield the status of every session in memory, then of each that changes; never ends by itself.

        A reader that falls behind gets one update per session, with its current status.
        """
        roll = self._bus.subscribe_changes(self._actors)
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
            self._bus.unsubscribe_changes(roll)

    async def drop_idle(self, idle_s: float, most: int) -> None:
        """Close sessions unused and unwatched for `idle_s`, and the longest idle beyond `most` in memory."""
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
        """Wait up to `timeout_s` for active runs, then stop the rest so that they can be resumed."""
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
        """Close a session; leave an active run unfinished in the record, so that it can be resumed.

        The same holds for the run's sub-agents; a sub-agent is set aside only together with its parent's run.
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
        """Close a session in this process, with everything it holds and its active run."""
        async with self._opening:
            actor = self._actors.pop(session, None)
        if actor is not None:  # without the lock: closing its sub-agents also comes through here
            await actor.aclose()
            self._bus.announce(session)

    async def let_go_unused(self, session: SessionId) -> None:
        """Close a session in this process, unless it has a pending command or an active run."""
        async with self._opening:  # else a command might arrive between the check and the close
            actor = self._actors.get(session)
            if actor is None or actor.is_used:
                return
            del self._actors[session]
        await actor.aclose()
        self._bus.announce(session)

    async def close(self, session: SessionId) -> None:
        """Close a session in memory that is not in use."""
        await self._actors.pop(session).aclose()
        self._bus.announce(session)

    async def aclose(self) -> None:
        """Close every session: cancel active runs and record their ends."""
        async with self._opening:
            actors, self._actors = list(self._actors.values()), {}
        async with asyncio.TaskGroup() as group:
            for actor in actors:
                group.create_task(actor.aclose())


def require_session_id(session: SessionId) -> None:
    """Raise SessionNotFound for an invalid session id: claims and stores build paths from ids."""
    if not is_session_id(session):
        raise session_not_found(session)


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
