"""The session service: implements the session API for the sessions of this process."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, overload

from msgspec.structs import replace

from bridle.core.errors import SessionBusy, SessionNotRunning, UsageError
from bridle.core.ids import RunId, SessionId, is_session_id
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.messages import Message, Text
from bridle.core.ports import LocalModels, SessionTool, ToolDispatcher, implements
from bridle.core.protocol import (
    LIKE_AGENT,
    Aborted,
    AnyCommand,
    Cancel,
    Command,
    Delete,
    Delta,
    Fork,
    Notice,
    Prompt,
    Record,
    RunEnded,
    RunOptions,
    SessionCreated,
    SessionOptions,
    Steer,
)
from bridle.core.queries import Query, Records
from bridle.core.session import fold, fork_at
from bridle.core.session_api import ForkReceipt, LiveSession, Receipt, SessionNews
from bridle.core.tenancy import tenant_of
from bridle.sessions.actor import Actor
from bridle.sessions.bus import Bus
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.command_checks import add_messages, changed_labels, check_session_options
from bridle.sessions.engine import Engine
from bridle.sessions.live_sessions import LiveSessions, require_session_id, watch_session
from bridle.sessions.queries import Queries
from bridle.sessions.rewind import check_seq
from bridle.system import current_tenant

A = TypeVar("A")

__all__ = ["SessionService"]


class SessionService:
    """Serves the sessions of this process; only the store decides whether they persist."""

    is_remote = False

    def __init__(self, engine: Engine, bus: Bus | None = None) -> None:
        self._engine = engine
        self._bus = bus or Bus()
        self._family = SubAgents(engine, self, engine.children, self._bus)
        self._roster = LiveSessions(engine, self._bus, self._family)
        self._queries = Queries(engine, self._roster)

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
        """Create a session; raises ConfigError for an unknown agent, UsageError for what no run could use."""
        check_session_options(options)
        first = add_messages(messages, is_first=True)
        made = changed_labels({}, labels)
        session = self._named(session_id)
        agent = agent or self._engine.settings.agent
        self._engine.load_agent(agent, cwd)
        created = SessionCreated(session, cwd, agent, title, options=options, labels=made)
        await self._engine.store.append(session, 0, [created, *first])
        self._bus.announce(session)
        return session

    def _named(self, wanted: SessionId | None) -> SessionId:
        if wanted is None:
            return self._engine.new_session_id()
        if not is_session_id(wanted):
            raise UsageError(f'"{wanted}" cannot name a session', hint="use letters, digits, dots and dashes")
        return wanted

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        """Submit a command to a session; raises SessionError if it is refused."""
        if isinstance(command, Fork):
            return await self._fork(session, command)
        if isinstance(command, Delete):
            await self._delete(session)
            return Receipt(0)
        actor = await self._roster.open(session)
        return await actor.submit(await self._expanded(actor, command))

    async def _expanded(self, actor: Actor, command: Command) -> Command:
        """Replace the name of an MCP server's prompt, such as `/mcp__server__name`, with the prompt's text.

        Not for sub-agents: a model writes their prompts, and this would let it call servers without rules.
        """
        servers = self._engine.servers
        if (
            servers is None
            or not isinstance(command, Prompt | Steer)
            or self._family.is_child(actor.journal.id)
        ):
            return command
        text = command.message.text
        if not text.startswith(f"/{MCP_PREFIX}"):
            return command
        options = command.options if isinstance(command, Prompt) else RunOptions()
        cwd = options.cwd or actor.journal.session.known.created.cwd
        said = await servers.expand(actor.journal.id, cwd, text)
        if said is None:
            return command
        masked = (Text(self._engine.mask(part.text)) if isinstance(part, Text) else part for part in said)
        others = (part for part in command.message.parts if not isinstance(part, Text))
        return replace(command, message=Message("user", (*masked, *others)))

    async def ask(self, query: Query[A]) -> A:
        """Answer a query; raises the BridleError that the query documents."""
        return await self._queries.answer(query)

    @asynccontextmanager
    async def provide_tools(self, session: SessionId, dispatcher: ToolDispatcher) -> AsyncIterator[None]:
        """Let the session's runs call tools of the caller while the context is open."""
        await self._queries.records(Records(session, limit=1))
        with self._engine.client_tools.provide(session, dispatcher):
            yield

    @overload
    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]: ...

    @overload
    def watch(self, session: None) -> AsyncGenerator[SessionNews, None]: ...

    def watch(self, session: SessionId | None, after: int | None = 0) -> AsyncGenerator[Any, None]:
        """Yield the records and deltas of a session; with None, the news of every session."""
        if session is None:
            return self._roster.news()
        return watch_session(self._engine.store, self._bus, session, after, pieces=True)

    async def wait(self, session: SessionId, run_id: RunId, after: int = 0) -> RunEnded:
        """Wait for the end of a run that is recorded after `after`."""
        actor = self._roster.get(session)
        if actor is not None and (aborted := actor.runs.aborted) is not None and aborted.run_id == run_id:
            return RunEnded(run_id, "failed", reason=aborted.reason)
        async for item in watch_session(self._engine.store, self._bus, session, after, pieces=False):
            if isinstance(item, Record) and isinstance(item.event, RunEnded) and item.event.run_id == run_id:
                return item.event
            if isinstance(item, Aborted) and item.run_id == run_id:
                return RunEnded(run_id, "failed", reason=item.reason)
        raise SessionNotRunning(f"run {run_id} is no longer followed")

    async def _fork(self, session: SessionId, command: Fork) -> ForkReceipt:
        """Create a child session with the messages up to a record."""
        records = await self._queries.records(Records(session))
        if command.at is not None:
            check_seq(session, records, command.at)
        known = fold(records).known
        child = self._named(command.session_id)
        title = f"{known.title} (fork)" if known.title else ""
        origin = replace(
            known.created,
            labels=known.labels,
            session_id=child,
            title=title,
            parent=session,
            options=known.settings,
        )
        events = fork_at(records, command.at or records[-1].seq, origin, command.messages)
        await self._engine.store.append(child, 0, events)
        self._bus.announce(child)
        return ForkReceipt(len(events), session=child)

    async def _delete(self, session: SessionId) -> None:
        """Delete a session and its sub-agents permanently; raises SessionBusy while one of them runs."""
        require_session_id(session)
        actor = self._roster.get(session)
        if actor is not None:
            await actor.runs.settle()
        if (actor is not None and actor.is_busy) or not await self._engine.claims.claim(session):
            raise SessionBusy(f"session {session} is running", hint="cancel the run first")
        try:
            if actor is not None:
                await self._roster.close(session)
            for other in await self._engine.store.list(archived=True):
                if other.sub_agent and other.parent == session:
                    await self._delete(other.id)
            await self._engine.store.delete(session)
            self._bus.end(session)
            if self._engine.memory is not None:
                await self._engine.memory.forget(session)
            if self._engine.revisions is not None:
                await asyncio.to_thread(self._engine.revisions.forget, session)
        finally:
            await self._engine.claims.release(session)

    async def interrupt(self, session: SessionId, reason: str = "") -> None:
        """Cancel the active run and wait for its end; do nothing if there is none."""
        actor = self._roster.get(session)
        if actor is None or not actor.is_busy:
            return
        run, seq = actor.journal.session.run, actor.journal.session.seq
        with suppress(SessionNotRunning):  # it has just ended
            await actor.submit(Cancel(reason))
        if run is not None:
            await self.wait(session, run.run_id, after=seq)

    def live(self) -> Sequence[LiveSession]:
        """Return the sessions in memory, running ones first."""
        return self._roster.live()

    def server_pids(self) -> dict[str, int]:
        """Return the process ids of the model servers that we run, by what they serve."""
        models = self._engine.models
        return models.server_pids() if implements(models, LocalModels) else {}

    def notify(self, text: str) -> None:
        """Show a notice to every watcher of every session, without recording it."""
        self._bus.publish_everywhere(Notice(text))

    async def drop_idle(self, idle_s: float, most: int) -> None:
        """Close sessions unused and unwatched for `idle_s`, and the longest idle beyond `most` in memory."""
        await self._roster.drop_idle(idle_s, most)

    async def park(self, timeout_s: float) -> None:
        """Wait up to `timeout_s` for active runs to end; stop the others, which can be resumed."""
        await self._roster.park(timeout_s)

    async def begin_queued(self, session: SessionId) -> None:
        """Start the oldest prompt that a crash left queued, unless a run is open or the last was stopped.

        Raises SessionError, StoreError.
        """
        with current_tenant.use_tenant(tenant_of(session)):
            await (await self._roster.open(session)).runs.begin_queued()

    async def until_free(self, session: SessionId) -> None:
        """Wait until no run of a session is active in this process."""
        actor = self._roster.get(session)
        if actor is not None:
            await actor.runs.until_free()

    def is_busy(self, session: SessionId) -> bool:
        """Return True if a run of a session is active in this process."""
        actor = self._roster.get(session)
        return actor is not None and actor.is_busy

    def rests(self, session: SessionId) -> bool:
        """Return True if a run is active here that cannot continue until a person answers."""
        actor = self._roster.get(session)
        return actor is not None and actor.rests and self._engine.is_at_rest(session)

    async def set_aside(self, session: SessionId) -> None:
        """Close a session here and stop its run, if any, without recording an end: it can be resumed.

        The same holds for the run's sub-agents; a sub-agent is only set aside together with its parent.
        """
        await self._roster.set_aside(session)

    async def give_up(self, session: SessionId, reason: str) -> None:
        """End an interrupted run that cannot continue; raises SessionBusy while it is driven."""
        await (await self._roster.open(session)).give_up(reason)

    async def aclose(self) -> None:
        """Cancel active runs, record their ends, and release all resources."""
        await self._roster.aclose()
        await self._family.aclose()
        for tool in self._engine.tools:
            if implements(tool, SessionTool):
                await tool.aclose()
        for keeper in (self._engine.peers, self._engine.servers, self._engine.languages):
            if keeper is not None:
                await keeper.aclose()
        if self._engine.memory is not None:
            await self._engine.memory.aclose()
        await self._engine.models.aclose()
        await self._engine.store.aclose()

    async def let_go_unused(self, session: SessionId) -> None:
        """Close a session in this process, unless it is processing a command or a run is active."""
        await self._roster.let_go_unused(session)

    async def let_go(self, session: SessionId, *, resumable: bool = False) -> None:
        """Close a session in this process: end its active run, if any, and release its resources.

        With `resumable`, the run stops without a recorded end: it can be resumed.
        """
        await (self._roster.set_aside(session) if resumable else self._roster.let_go(session))
