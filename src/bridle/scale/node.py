"""One process of a cluster: a worker, a gateway, or both.

```
start   create tables ─▶ register ─▶ listen for notices ─▶ take jobs
drain   take no more jobs; runs get time to end, unfinished ones continue elsewhere ─▶ leave
```
"""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from bridle.config.scale_keys import ScaleSettings
from bridle.core.budget import Spend
from bridle.core.errors import BridleError, NotDrivenHere, StoreError, WorkspaceLost
from bridle.core.ids import SessionId
from bridle.core.ports import Store, TenantBudget
from bridle.core.protocol import AnyCommand, Command, Delete, Fork, RunEnded, RunStarted
from bridle.core.queries import Status
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.tenant_budget import NANO, Reservation
from bridle.scale.assignments import JobRunner
from bridle.scale.cluster_api import ClusterApi
from bridle.scale.command_router import CommandRouter, ModelOf, list_queues
from bridle.scale.durable import Executor, JobQueue
from bridle.scale.durable import migrate as migrate_engine
from bridle.scale.jobs import Job
from bridle.scale.members import Member, MemberCache, Members
from bridle.scale.peer_connections import Connect, PeerConnections
from bridle.scale.remote_events import RemoteEvents
from bridle.scale.tenant_folders import TenantFolders
from bridle.sessions.service import SessionService
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.listener import NotificationListener
from bridle.stores.postgres.migrations import migrate
from bridle.stores.postgres.notifications import CLAIMS, RECORDS
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.retention import prune_archived
from bridle.stores.postgres.rows import Connection
from bridle.stores.postgres.store import PostgresStore
from bridle.system.processes import kill_child
from bridle.system.programs import find_program, unsandboxed_environment, why_not_found

# ---------------------------------------------------------------------------- budget settlement
# Settles budget reservations of runs that ended without doing so, such as those of a dead worker.


OLDER_S = 600.0
AT_ONCE = 500
TAIL = 2_000  # records that are searched at once for the end of a run


async def settle_ended(tenant_budget: TenantBudget, store: Store, older_s: float = OLDER_S) -> int:
    """Settle every old reservation whose run has ended or never began; return how many. Raises StoreError.

    If the session is gone, the whole reservation counts as spent; if the run never began, nothing does.
    Runs that continue are left alone.
    """
    settled = 0
    for reservation in await tenant_budget.unsettled(older_s, AT_ONCE):
        used = await _used(store, reservation)
        if used is not None:
            await tenant_budget.settle(reservation.session, reservation.run_id, used)
            settled += 1
    return settled


async def _used(store: Store, reservation: Reservation) -> Spend | None:
    """Return the spend of a run; None if it continues."""
    before: int | None = None
    while records := await store.read(reservation.session, before=before, limit=TAIL, newest=True):
        for record in reversed(records):
            match record.event:
                case RunEnded(run_id=run_id) if run_id == reservation.run_id:
                    return get_spend(record.event)
                case RunStarted(run_id=run_id) if run_id == reservation.run_id:
                    return None
                case _:
                    pass
        before = records[0].seq
    if before is None:
        return Spend(tokens=reservation.held.tokens, cost=reservation.held.nano / NANO)
    return Spend()  # its worker died before it began


def get_spend(ended: RunEnded) -> Spend:
    """Return what a run counts toward the budget of its tenant."""
    return Spend(tokens=ended.usage.context, cost=ended.cost or 0.0)


# ---------------------------------------------------------------------------- node


SWEEP_S = 5.0  # the longest pause between checks for runs that wait for a person
START_S = 3.0  # for a database that is starting at the same time
AGAIN_S = 1.0  # before an interrupted run is retried
PRUNE_S = 600.0
JOBS_KEPT_S = 7 * 86_400.0  # for later inspection
LISTEN_S = 5.0  # before another attempt
GRACE_S = 5.0  # for jobs to requeue their unfinished work
MAX_TOLD_CHARS = 500

_TOKEN = "INSERT INTO bridle.cluster VALUES ('token', %s) ON CONFLICT DO NOTHING"
_READ_TOKEN = "SELECT value FROM bridle.cluster WHERE name = 'token'"

log = logging.getLogger("bridle.scale")


async def prepare_tables(postgres: Postgres, url: str, *, may_migrate: bool) -> None:
    """Make sure that the tables exist; raises StoreError, also if they belong to another Bridle version."""
    await postgres.retry(_greet, patience_s=START_S)
    if may_migrate:
        for change in await migrate(postgres):
            log.info("changed the tables: %s", change)
        await migrate_engine(url)
    else:
        await postgres.open()


async def _greet(connection: Connection) -> None:
    await connection.execute("SELECT 1")


async def cluster_token(postgres: Postgres) -> str:
    """Return the token that the nodes of a cluster use among themselves; the first node creates it."""
    await postgres.rows(_TOKEN, (secrets.token_urlsafe(32),))
    found: str = (await postgres.rows(_READ_TOKEN))[0][0]
    return found


class NodeParts(Struct, frozen=True):
    """What a node needs before its sessions are opened."""

    scale: ScaleSettings
    postgres: Postgres
    url: str
    store: PostgresStore
    claims: PostgresClaims
    me: Member
    is_worker: bool
    new_id: Callable[[], str]
    model_of: ModelOf
    folders: TenantFolders
    """Where tenants may work."""
    tenant_budget: TenantBudget
    keep_archived_s: float | None = None
    environ: Mapping[str, str] = {}
    """For programs of the cluster's operator."""


class Node:
    """One process of the cluster."""

    def __init__(self, parts: NodeParts, connect: Connect) -> None:
        self._parts = parts
        self._scale = parts.scale
        self.dispatch = JobQueue(parts.url)
        self.members = Members(
            parts.postgres,
            parts.claims,
            parts.me,
            beat_s=float(self._scale.beat),
            dead_after_s=float(self._scale.dead_after),
            hand_on=self.dispatch.requeue_lost,
        )
        self.roster = MemberCache(self.members)
        self.executor = Executor(parts.url, parts.me.id) if parts.is_worker else None
        self._peers = PeerConnections(connect)
        self.routing = CommandRouter(
            parts.postgres,
            self._scale,
            self.dispatch,
            self.roster,
            self._peers,
            me=parts.me.id,
            new_id=parts.new_id,
            model_of=parts.model_of,
        )
        self.following = RemoteEvents(parts.store, self.routing.api_of)
        self._listener = NotificationListener(parts.postgres)
        self._stack = AsyncExitStack()
        self._service: SessionService | None = None
        self._runner: JobRunner | None = None
        self._ending: asyncio.Task[None] | None = None
        self._loose: set[asyncio.Task[None]] = set()

    @property
    def service(self) -> SessionService:
        """The sessions of this process."""
        assert self._service is not None, "the node has no sessions yet"
        return self._service

    def give(self, service: SessionService) -> ClusterApi:
        """Take the sessions of this process; returns the session API of the cluster."""
        self._service = service
        if self.executor is not None:
            self._runner = JobRunner(service, self.executor, self)
        return ClusterApi(
            service,
            self._parts.store,
            self.routing,
            self.roster,
            self._peers,
            me=self._parts.me.id,
            runner=self._runner,
        )

    @property
    def worker_api(self) -> SessionApi:
        """Return the session API for other nodes: the sessions of this process, driven only by jobs."""
        assert self._runner is not None, "this node is not a worker"
        return cast(SessionApi, _WorkerApi(self.service, self._runner))

    # ------------------------------------------------------------------ life cycle

    async def start(self, address: str = "") -> None:
        """Join the cluster; `address` is where a worker is reached. Raises StoreError."""
        self.members.me = replace(self.members.me, address=address)
        await self.dispatch.open()
        self._stack.push_async_callback(self.dispatch.aclose)
        await self.members.join()
        self._stack.push_async_callback(self.members.leave)
        self._stack.push_async_callback(self._peers.aclose)
        self._stack.push_async_callback(self.following.aclose)
        self._listener.listen(RECORDS, self.following.on_records_notice)
        self._listener.listen(CLAIMS, self.following.on_claims_notice)
        self._listener.listen(CLAIMS, self._note_claim)
        self._keep(self._listen())
        self._keep(self.members.run())
        if self.executor is not None and self._runner is not None:
            lanes = list(list_queues(self._scale, self._parts.me.node))
            await self.executor.launch(
                self._runner.drive, lanes, runs=self._scale.runs, poll_s=float(self._scale.poll)
            )
            self._keep(self._sweep(self._runner))
            self._keep(self._prune())

    def stop_taking(self, timeout_s: float) -> None:
        """Take no more jobs; unfinished runs continue on other workers."""
        self.members.is_draining = True
        if self._runner is not None and self.executor is not None and self._ending is None:
            self._runner.is_stopping = True
            self._ending = asyncio.create_task(self.executor.aclose(timeout_s + GRACE_S))

    async def aclose(self) -> None:
        """Leave the cluster; close the sessions of this process first."""
        self.stop_taking(0)
        if self._ending is not None:
            await self._ending
        await self._stack.aclose()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)

        async def end() -> None:
            task.cancel()
            with suppress(asyncio.CancelledError, BridleError):
                await task

        self._stack.push_async_callback(end)

    async def _sweep(self, runner: JobRunner) -> None:
        after_s = float(self._scale.rest_after)
        while True:
            await asyncio.sleep(min(SWEEP_S, after_s / 4))
            try:
                await runner.set_aside_resting(after_s)
            except BridleError as error:
                log.warning("a waiting run could not be set aside: %s", error)

    async def _listen(self) -> None:
        """Listen for notices, and reconnect when the listener gives up."""
        while True:
            try:
                await self._listener.run()
            except StoreError as error:
                log.warning("cannot receive notifications: %s", error)
            await asyncio.sleep(LISTEN_S)

    async def _prune(self) -> None:
        """Delete expired data periodically; several workers may do so at once."""
        while True:
            await asyncio.sleep(PRUNE_S)
            now_s = time.time()
            try:
                if (keep_s := self._parts.keep_archived_s) is not None:
                    before_ms = int((now_s - keep_s) * 1000)
                    await prune_archived(self._parts.postgres, before_ms=before_ms)
                await settle_ended(self._parts.tenant_budget, self._parts.store)
                await self.dispatch.forget(datetime.fromtimestamp(now_s - JOBS_KEPT_S, UTC).isoformat())
            except BridleError as error:
                log.warning("old data could not be removed: %s", error)

    def _note_claim(self, payload: str | None) -> None:
        """Release a session that rests here when another worker has claimed it."""
        session, _, worker = (payload or "").partition(" ")
        if worker and worker != self._parts.me.id:
            task = asyncio.create_task(self.service.let_go_unused(SessionId(session)))
            self._loose.add(task)
            task.add_done_callback(self._loose.discard)

    # ------------------------------------------------------------------ for jobs

    async def forward(self, session: SessionId, command: Command) -> Receipt:
        """Send a command to the worker that drives the session; raises NotDrivenHere if there is none."""
        holder = await self.routing.holder(session)
        if holder in ("", self._parts.me.id):
            raise NotDrivenHere(f"no worker runs session {session}")
        return await self.routing.send_to_worker(holder, session, command)

    async def order(self, order: Job, assignment: str) -> None:
        """Order another job, after a short delay."""
        delay_s = 0.0 if self.members.is_draining else AGAIN_S * order.tries
        status = await self.service.ask(Status(order.session))
        # Each worker that is interrupted at the same place orders a job under its own name.
        name = f"{assignment.partition('~')[0]}~{status.seq}-{order.tries}-{self._parts.me.id[-8:]}"
        await self.routing.order(order, status, assignment=name, delay_s=delay_s)

    async def bring(self, session: SessionId, folder: str) -> None:
        """Make sure that a session's folder is here and its tenant's; raises WorkspaceLost, UsageError."""
        await self._parts.folders.check_session(session, folder)
        if not await asyncio.to_thread(os.path.isdir, folder):
            await self._fetch(session, folder)
        if self._scale.workspaces == "local":
            await self.routing.bind(session, self._parts.me.node)

    async def _fetch(self, session: SessionId, folder: str) -> None:
        node = self._parts.me.node
        if not self._scale.fetch:
            raise WorkspaceLost(
                f"session {session} works in {folder}, which is not on the machine {node}",
                hint="share folders between workers, or set scale.fetch to a command that fetches them",
            )
        environ = unsandboxed_environment(self._parts.environ, (folder,))
        command, *args = self._scale.fetch
        program = find_program(command, environ["PATH"], outside=(folder,))
        if program is None:
            why = why_not_found(command, environ["PATH"])
            raise WorkspaceLost(f"scale.fetch: {command} {why}", hint="name it by its absolute path")
        process = await asyncio.create_subprocess_exec(
            program,
            *args,
            env={**environ, "BRIDLE_SESSION": session, "BRIDLE_FOLDER": folder},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(float(self._scale.fetch_timeout)):
                said, _ = await process.communicate()
        except TimeoutError:
            kill_child(process)
            await process.wait()
            raise WorkspaceLost(f"copying {folder} to the machine {node} took too long") from None
        if process.returncode or not await asyncio.to_thread(os.path.isdir, folder):
            told = said.decode(errors="replace").strip()[-MAX_TOLD_CHARS:]
            raise WorkspaceLost(f"{folder} could not be copied to the machine {node}: {told}")


class _WorkerApi:
    """The session API of a worker; accepts commands only for sessions that a job drives."""

    def __init__(self, service: SessionService, runner: JobRunner) -> None:
        self._service = service
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        """Submit a command to a session that is driven here; raises NotDrivenHere."""
        if isinstance(command, Fork | Delete):
            return await self._service.submit(session, command)
        return await self._runner.submit(session, command)
