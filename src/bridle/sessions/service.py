"""The one door: every surface creates, drives, watches and reads sessions through this."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from bridle.core.context import estimate_message
from bridle.core.door import LiveSession, NextContext, Receipt, RewindPlan, SessionNews
from bridle.core.errors import SessionBusy, SessionNotRunning, UsageError
from bridle.core.fork import fork_at
from bridle.core.glance import Glance, glance_of
from bridle.core.ids import RunId, SessionId, is_session_id
from bridle.core.messages import Message, Text
from bridle.core.ports import LocalModels, SessionTool, ToolDispatcher, offers
from bridle.core.protocol import (
    Aborted,
    Cancel,
    Command,
    Delta,
    Notice,
    Prompt,
    Record,
    RunEnded,
    RunOptions,
    SessionCreated,
    Steer,
)
from bridle.core.revision import FileChange, net_changes
from bridle.core.servers import LENT_PREFIX, PromptView, ServerView
from bridle.core.session import Session, fold
from bridle.core.summary import SessionSummary
from bridle.core.tenancy import tenant_of
from bridle.core.turns import file_changes
from bridle.sessions.actor import Actor
from bridle.sessions.bus import Bus
from bridle.sessions.children import Family
from bridle.sessions.engine import Engine
from bridle.sessions.journal import open_brief
from bridle.sessions.rewind import check_seq, describe_changes, plan_rewind
from bridle.sessions.roster import Roster, require_name
from bridle.sessions.setup import set_up
from bridle.sessions.watching import follow, no_session
from bridle.system import tenant

__all__ = ["SessionService"]


class SessionService:
    """Serves the sessions of this process; the ephemeral and the persistent one differ in their store."""

    outlives_us = False

    def __init__(self, engine: Engine, bus: Bus | None = None) -> None:
        self._engine = engine
        self._bus = bus or Bus()
        self._family = Family(engine, self, engine.children, self._bus)
        self._roster = Roster(engine, self._bus, self._family)

    async def create(
        self, *, cwd: str, agent: str = "", title: str = "", session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a session with an agent, or the usual one; raises ConfigError for an unknown agent."""
        session = self._named(session_id)
        agent = agent or self._engine.default_agent
        self._engine.load_agent(agent, cwd)
        await self._engine.store.append(session, 0, [SessionCreated(session, cwd, agent, title)])
        self._bus.announce(session)
        return session

    def _named(self, wanted: SessionId | None) -> SessionId:
        if wanted is None:
            return self._engine.new_session_id()
        if not is_session_id(wanted):
            raise UsageError(f'"{wanted}" cannot name a session', hint="use letters, digits, dots and dashes")
        return wanted

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session; raises SessionError when it cannot be taken."""
        actor = await self._roster.open(session)
        return await actor.submit(await self._expanded(actor, command))

    async def _expanded(self, actor: Actor, command: Command) -> Command:
        """Put what a prompt of a server says into the place of its name.

        A sub-agent is prompted by a model, which may not call on servers behind the back of rules.
        """
        servers = self._engine.servers
        if (
            servers is None
            or not isinstance(command, Prompt | Steer)
            or self._family.is_child(actor.journal.id)
        ):
            return command
        text = command.message.text
        if not text.startswith(f"/{LENT_PREFIX}"):
            return command
        options = command.options if isinstance(command, Prompt) else RunOptions()
        cwd = options.cwd or actor.journal.session.known.created.cwd
        said = await servers.expand(actor.journal.id, cwd, text)
        if said is None:
            return command
        masked = (Text(self._engine.mask(part.text)) if isinstance(part, Text) else part for part in said)
        others = (part for part in command.message.parts if not isinstance(part, Text))
        return replace(command, message=Message("user", (*masked, *others)))

    @asynccontextmanager
    async def lend(self, session: SessionId, dispatcher: ToolDispatcher) -> AsyncIterator[None]:
        """Let the runs of a session call tools of the caller's own, as long as the context is open.

        Runs that begin afterwards have them, also in the place of Bridle's own of the same name; entering
        raises SessionNotFound, or UsageError for what cannot be a tool.
        """
        await self.records(session, limit=1)
        with self._engine.loans.lend(session, dispatcher):
            yield

    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between.

        With None the newest record comes first: then the caller knows that nothing later is missed.
        Never ends by itself. A watcher that falls behind gets Lagged, loses deltas and no record.
        Raises SessionNotFound, also once the session is deleted.
        """
        return follow(self._engine.store, self._bus, session, after, pieces=True)

    async def wait(self, session: SessionId, run_id: RunId, after: int = 0) -> RunEnded:
        """Wait for a run's end."""
        actor = self._roster.get(session)
        if actor is not None and (aborted := actor.runs.aborted) is not None and aborted.run_id == run_id:
            return RunEnded(run_id, "failed", reason=aborted.reason)
        async for item in follow(self._engine.store, self._bus, session, after, pieces=False):
            if isinstance(item, Record) and isinstance(item.event, RunEnded) and item.event.run_id == run_id:
                return item.event
            if isinstance(item, Aborted) and item.run_id == run_id:
                return RunEnded(run_id, "failed", reason=item.reason)
        raise SessionNotRunning(f"run {run_id} is not followed any more")

    async def read(self, session: SessionId) -> Session:
        """Return the whole session as stored."""
        return fold(await self.records(session))

    async def glance(self, session: SessionId) -> Glance:
        """Say how a session is, without its messages; raises SessionNotFound."""
        actor = self._roster.get(session)
        if actor is not None and actor.is_busy and actor.journal.is_settled:
            return glance_of(actor.journal.session, is_running=True)
        require_name(session)
        folded = await open_brief(self._engine.store, session)
        is_running = await self.is_running(session)  # not before: a run that has begun since is not cut off
        return glance_of(folded, is_running=is_running)

    def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield how every session in memory is, and from then on each that changes; never ends by itself.

        A reader that falls behind hears of a session once, as it is by then.
        """
        return self._roster.news()

    async def records(self, session: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return stored records in order; raises SessionNotFound."""
        records = await self._engine.store.read(session, after=after, limit=limit)
        if not records and after == 0:
            raise no_session(session)
        return records

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session, newest first."""
        return await self._engine.store.list(archived=archived)

    async def is_running(self, session: SessionId) -> bool:
        """Tell whether somebody drives a run of the session, in whichever process."""
        require_name(session)
        actor = self._roster.get(session)
        if actor is not None and (actor.is_busy or actor.runs.claim.is_tended):
            return actor.is_busy
        return await self._engine.claims.is_taken(session)

    async def fork(
        self, session: SessionId, at: int | None = None, *, session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a child session with the messages up to sequence number `at` (default: all)."""
        records = await self.records(session)
        if at is not None:
            check_seq(session, records, at)
        created = fold(records).known
        child = self._named(session_id)
        title = f"{created.title} (fork)" if created.title else ""
        origin = SessionCreated(child, created.created.cwd, created.created.agent, title, session)
        await self._engine.store.append(child, 0, fork_at(records, at or records[-1].seq, origin))
        self._bus.announce(child)
        return child

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good, and its sub-agents; raises SessionBusy while one of them runs."""
        require_name(session)
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
                    await self.delete(other.id)
            await self._engine.store.delete(session)
            self._bus.end(session)
            if self._engine.memory is not None:
                await self._engine.memory.forget(session)
            if self._engine.revisions is not None:
                await asyncio.to_thread(self._engine.revisions.forget, session)
        finally:
            await self._engine.claims.release(session)

    async def interrupt(self, session: SessionId, reason: str = "") -> None:
        """Cancel the active run and wait for its end; an idle session is left as it is."""
        actor = self._roster.get(session)
        if actor is None or not actor.is_busy:
            return
        run, seq = actor.journal.session.run, actor.journal.session.seq
        with suppress(SessionNotRunning):  # it ended by itself just now
            await actor.submit(Cancel(reason))
        if run is not None:
            await self.wait(session, run.run_id, after=seq)

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        """Say what going back would do to the files, without doing it; raises UsageError as that does."""
        with tenant.working_for(tenant_of(session)):
            await self._notice_changes(session)
            records = await self.records(session)
            check_seq(session, records, to_seq)
            created = fold(records[:1]).known.created
            if self._engine.revisions is None:
                return RewindPlan(to_seq)
            return await plan_rewind(records, to_seq, self._engine.revisions.keeper(session, created.cwd))

    async def changes(
        self, session: SessionId, after: int = 0, upto: int | None = None
    ) -> Sequence[FileChange]:
        """Return what the session changed on disk with after < seq <= upto, as one step."""
        with tenant.working_for(tenant_of(session)), suppress(UsageError):  # then what is recorded is shown
            await self._notice_changes(session)
        return net_changes(file_changes(await self.records(session), after, upto))

    async def _notice_changes(self, session: SessionId) -> None:
        actor = await self._roster.open(session)
        await actor.runs.preparing.check_folder()
        await actor.notice_changes()

    async def describe(self, changes: Sequence[FileChange]) -> str:
        """Show changes as a diff."""
        blobs = self._engine.blobs
        return "" if blobs is None else await asyncio.to_thread(describe_changes, changes, blobs)

    async def next_context(self, session: SessionId, at: int | None = None) -> NextContext:
        """Return what the next turn would send, without sending it, or would have sent after record `at`."""
        actor = await self._roster.open(session)
        journal = actor.journal  # whose end is also that of what servers start for it
        state = journal.session
        if at is not None:
            state = fold([record for record in await self.records(session) if record.seq <= at])
        options = replace(state.run.options, model=state.run.model) if state.run is not None else RunOptions()
        await actor.runs.preparing.check_folder(options.cwd)
        setup = await set_up(self._engine, session, state, options)
        for note in setup.notes:  # which nobody is told twice
            journal.show(Notice(note))
        first_of_run = state.run.first_message if state.run is not None else len(state.messages)
        backend = setup.backend
        fitted = backend.fit(state.messages, first_of_run)
        request = setup.request(backend, fitted, backend.model.max_output_tokens)
        tokens = fitted.tokens
        if len(request.messages) != len(tokens):  # in code mode neighbours are joined
            tokens = tuple(map(estimate_message, request.messages))
        return NextContext(
            backend.model.ref, request.system, request.tools, request.messages, fitted.usage, tokens
        )

    async def servers(self, cwd: str) -> Sequence[ServerView]:
        """Say how the tool servers and language servers of a folder are, without starting one."""
        keepers = (self._engine.servers, self._engine.languages)
        return [view for keeper in keepers if keeper is not None for view in await keeper.views(cwd)]

    async def server_prompts(self, cwd: str) -> Sequence[PromptView]:
        """Return the prompts of servers that a prompt can call as `/name`."""
        return () if self._engine.servers is None else await self._engine.servers.prompts(cwd)

    def live(self) -> Sequence[LiveSession]:
        """Return the sessions that are in memory, those that run first."""
        return self._roster.live()

    def server_pids(self) -> dict[str, int]:
        """Return the processes of ours that serve models, by what they serve."""
        models = self._engine.models
        return models.server_pids() if offers(models, LocalModels) else {}

    def notify(self, text: str) -> None:
        """Tell everyone who watches a session something that changes nothing."""
        self._bus.publish_everywhere(Notice(text))

    async def drop_idle(self, idle_s: float, most: int) -> None:
        """Close sessions that nobody has used or watched for a time, and the longest idle of too many."""
        await self._roster.drop_idle(idle_s, most)

    async def park(self, timeout_s: float) -> None:
        """Give active runs a time to end, then leave them as they are recorded: they can be resumed."""
        await self._roster.park(timeout_s)

    async def begin_queued(self, session: SessionId) -> None:
        """Let the prompt that has waited longest run, where a crash has left it and nothing else keeps it.

        Raises SessionError, StoreError.
        """
        with tenant.working_for(tenant_of(session)):
            await (await self._roster.open(session)).runs.begin_queued()

    async def until_free(self, session: SessionId) -> None:
        """Wait until no run of a session is active in this process."""
        actor = self._roster.get(session)
        if actor is not None:
            await actor.runs.until_free()

    def is_busy(self, session: SessionId) -> bool:
        """Tell whether a run of a session is active in this process."""
        actor = self._roster.get(session)
        return actor is not None and actor.is_busy

    def rests(self, session: SessionId) -> bool:
        """Tell whether a run is active here that can do nothing before a person has answered."""
        actor = self._roster.get(session)
        return actor is not None and actor.rests and self._engine.is_at_rest(session)

    async def set_aside(self, session: SessionId) -> None:
        """Let go of a session and leave its run, if one is active, as it is recorded: it can be resumed.

        So are the sub-agents of the run; one of them is only set aside together with it.
        """
        await self._roster.set_aside(session)

    async def give_up(self, session: SessionId, reason: str) -> None:
        """End a run that was cut off and cannot go on; raises SessionBusy while it is being driven."""
        await (await self._roster.open(session)).give_up(reason)

    async def aclose(self) -> None:
        """Cancel active runs, record their ends, and release everything."""
        await self._roster.aclose()
        await self._family.aclose()
        for tool in self._engine.tools:
            if offers(tool, SessionTool):
                await tool.aclose()
        for keeper in (self._engine.servers, self._engine.languages):
            if keeper is not None:
                await keeper.aclose()
        if self._engine.memory is not None:
            await self._engine.memory.aclose()
        await self._engine.models.aclose()
        await self._engine.store.aclose()

    async def let_go_unused(self, session: SessionId) -> None:
        """Close a session in this process, unless a command is being taken or a run is active."""
        await self._roster.let_go_unused(session)

    async def let_go(self, session: SessionId, *, aside: bool = False) -> None:
        """Close a session in this process: what it holds ends, a run that is active too.

        With `aside` the run is left as it is recorded: it can be resumed.
        """
        await (self._roster.set_aside(session) if aside else self._roster.let_go(session))
