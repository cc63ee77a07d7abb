"""Answers queries about the sessions of this process: one handler per query."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from bridle.core.context import estimate_message
from bridle.core.errors import ConfigError, NotAllowed, UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import PeerWriter, implements
from bridle.core.protocol import Notice, Record, RunOptions
from bridle.core.queries import (
    Changes,
    Describe,
    Diff,
    IsRunning,
    ListSessions,
    NextContext,
    Peers,
    PlanRewind,
    PreviewContext,
    Query,
    Records,
    RewindPlan,
    ServerPrompts,
    Servers,
    ShowDiff,
    Status,
    WriteToPeer,
)
from bridle.core.revision import FileChange, net_changes
from bridle.core.server_views import PeerView, PromptView, ServerView
from bridle.core.session import fold
from bridle.core.session_status import SessionStatus, make_session_status
from bridle.core.summary import SessionSummary
from bridle.core.tenancy import tenant_of
from bridle.core.turns import file_changes
from bridle.sessions.command_checks import new_run_options, resumed_options
from bridle.sessions.engine import Engine
from bridle.sessions.journal import open_without_messages
from bridle.sessions.live_sessions import LiveSessions, require_session_id, session_not_found
from bridle.sessions.rewind import check_seq, describe_changes, plan_rewind
from bridle.sessions.setup import set_up
from bridle.system import current_tenant

A = TypeVar("A")


class Queries:
    """Answers queries about the sessions of this process."""

    def __init__(self, engine: Engine, roster: LiveSessions) -> None:
        self._engine = engine
        self._roster = roster
        self.handlers: Mapping[type[Query[Any]], Callable[[Any], Awaitable[Any]]] = {
            Records: self.records,
            ListSessions: self._list,
            Status: self._status,
            IsRunning: self._is_running,
            PlanRewind: self._plan_rewind,
            Changes: self._changes,
            Describe: self._describe,
            ShowDiff: self._diff,
            PreviewContext: self._preview_context,
            Servers: self._servers,
            ServerPrompts: self._server_prompts,
            Peers: self._peers,
            WriteToPeer: self._write_to_peer,
        }

    async def answer(self, query: Query[A]) -> A:
        """Answer a query; raises the BridleError that the query documents."""
        answer: A = await self.handlers[type(query)](query)
        return answer

    async def records(self, query: Records) -> list[Record]:
        """Return stored records in order; raises SessionNotFound."""
        records = await self._engine.store.read(query.session, after=query.after, limit=query.limit)
        if not records and query.after == 0:
            raise session_not_found(query.session)
        return records

    async def _list(self, query: ListSessions) -> Sequence[SessionSummary]:
        return await self._engine.store.list(archived=query.archived)

    async def _status(self, query: Status) -> SessionStatus:
        session = query.session
        actor = self._roster.get(session)
        if actor is not None and actor.is_busy and actor.journal.is_settled:
            return make_session_status(actor.journal.session, is_running=True)
        require_session_id(session)
        folded = await open_without_messages(self._engine.store, session)
        # Checked last: a run that has started meanwhile must not count as interrupted.
        is_running = await self._is_running(IsRunning(session))
        return make_session_status(folded, is_running=is_running)

    async def _is_running(self, query: IsRunning) -> bool:
        require_session_id(query.session)
        actor = self._roster.get(query.session)
        if actor is not None and (actor.is_busy or actor.runs.claim.is_tended):
            return actor.is_busy
        return await self._engine.claims.is_taken(query.session)

    async def _plan_rewind(self, query: PlanRewind) -> RewindPlan:
        session = query.session
        with current_tenant.use_tenant(tenant_of(session)):
            await self._notice_changes(session)
            records = await self.records(Records(session))
            check_seq(session, records, query.to_seq)
            created = fold(records[:1]).known.created
            if self._engine.revisions is None:
                return RewindPlan(query.to_seq)
            keeper = self._engine.revisions.keeper(session, created.cwd)
            return await plan_rewind(records, query.to_seq, keeper)

    async def _changes(self, query: Changes) -> Sequence[FileChange]:
        session = query.session
        with (
            current_tenant.use_tenant(tenant_of(session)),
            suppress(UsageError),
        ):  # then only recorded changes are shown
            await self._notice_changes(session)
        return net_changes(file_changes(await self.records(Records(session)), query.after, query.upto))

    async def _notice_changes(self, session: SessionId) -> None:
        actor = await self._roster.open(session)
        await actor.runs.preparing.check_folder()
        await actor.notice_changes()

    async def _describe(self, query: Describe) -> str:
        blobs = self._engine.blobs
        return "" if blobs is None else await asyncio.to_thread(describe_changes, query.changes, blobs)

    async def _diff(self, query: ShowDiff) -> Diff:
        changes = list(await self._changes(Changes(query.session, query.after, query.upto)))
        with current_tenant.use_tenant(tenant_of(query.session)):
            return Diff(changes, await self._describe(Describe(changes)))

    async def _preview_context(self, query: PreviewContext) -> NextContext:
        session, at = query.session, query.at
        actor = await self._roster.open(session)
        journal = actor.journal  # closing the actor also ends the servers started below
        state = journal.session
        if at is not None:
            state = fold([record for record in await self.records(Records(session)) if record.seq <= at])
        options = (
            new_run_options(state, RunOptions())
            if state.run is None
            else resumed_options(state.run, RunOptions())
        )
        await actor.runs.preparing.check_folder(options.cwd)
        setup = await set_up(self._engine, session, state, options)
        for note in setup.notes:  # each is reported only once
            journal.show(Notice(note))
        first_of_run = state.run.first_message if state.run is not None else len(state.messages)
        backend = setup.backend
        fitted = backend.fit(state.messages, first_of_run)
        request = setup.request(backend, fitted, backend.model.max_output_tokens)
        tokens = fitted.tokens
        if len(request.messages) != len(tokens):  # code mode joins adjacent messages
            tokens = tuple(map(estimate_message, request.messages))
        return NextContext(
            backend.model.ref, request.system, request.tools, request.messages, fitted.usage, tokens
        )

    async def _servers(self, query: Servers) -> Sequence[ServerView]:
        keepers = (self._engine.servers, self._engine.languages)
        return [view for keeper in keepers if keeper is not None for view in await keeper.views(query.cwd)]

    async def _server_prompts(self, query: ServerPrompts) -> Sequence[PromptView]:
        return () if self._engine.servers is None else await self._engine.servers.prompts(query.cwd)

    async def _peers(self, query: Peers) -> Sequence[PeerView]:
        return await (await self._peer_writer(query.session)).peers()

    async def _write_to_peer(self, query: WriteToPeer) -> str:
        peers = await self._peer_writer(query.session)
        if self._engine.peers is not None:
            with suppress(ConfigError):  # another process gets the replies
                await self._engine.peers.open()
        return await peers.write(query.session, query.message)

    async def _peer_writer(self, session: SessionId) -> PeerWriter:
        """Return what writes to peers; they are the user's, not a tenant's."""
        await self.records(Records(session, limit=1))
        if tenant_of(session):
            raise NotAllowed("messages to peers belong to the administrator of the service")
        if (peers := self._engine.peers) is None or not implements(peers, PeerWriter):
            raise ConfigError("messages between agents are off", hint="bridle config set comms.mode unix")
        return peers
