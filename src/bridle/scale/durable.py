"""Durable queues and steps, using DBOS on PostgreSQL; the only module that uses DBOS.

```
job     a workflow on a queue: one session, one command, until the session rests   queue = label (and model)
 └ attempt  the part of a job on one worker; its steps are the model calls and tool calls
    └ attempt   of a sub-agent
```

An interrupted job starts over on another worker: its earlier effects are in the session's journal, whose
effect ledger decides what may run again. The steps of the interrupted worker stay in its attempt, so
nothing is replayed, and the order of steps may differ between attempts.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from itertools import count
from typing import Any, TypeVar

from dbos import (
    DBOS,
    DBOSClient,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    EnqueueOptions,
    SetWorkflowID,
    WorkflowStatus,
)
from dbos import error as dbos_errors
from msgspec import Struct
from sqlalchemy.exc import DBAPIError

from bridle.core.errors import SessionBusy, SessionNotRunning
from bridle.core.ids import SessionId
from bridle.scale.jobs import Job, encode_job
from bridle.stores.postgres.errors import display_name, find_secrets, parse_url, to_store_error
from bridle.system.current_tenant import current

T = TypeVar("T")

ASSIGNMENT, LEASE = "bridle.leg", "bridle.stint"
PROTOCOL = "1"
"""The version of the job format; workers ignore other versions. It changes when old and new cannot mix."""
TAKEN = "taken"
LOOK_S = 1.0  # between checks of a job that no worker has taken yet
CHUNK = 500  # jobs that are listed or requeued at once

log = logging.getLogger("bridle.scale")

Drive = Callable[[str, str, Callable[[str], Awaitable[None]]], Awaitable[str]]
"""Runs a job, given its id, its encoded form and a callback that reports the outcome of the command."""


class QueueSpec(Struct, frozen=True):
    """A queue and its limits across all machines."""

    name: str
    runs: int | None = None
    starts: tuple[int, float] | None = None
    """The maximum number of starts, and the period in seconds."""
    tenant_runs: int | None = None
    tenant_starts: tuple[int, float] | None = None

    @property
    def is_shared(self) -> bool:
        """True if the queue has separate limits per tenant."""
        return self.tenant_runs is not None or self.tenant_starts is not None


async def migrate(url: str) -> None:
    """Create or upgrade DBOS's tables; several nodes may do so at once.

    Raises StoreError.
    """
    await _at_start(url, lambda: DBOS.migrate(url))


class JobQueue:
    """Enqueues jobs and reports their outcomes."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: DBOSClient | None = None

    async def open(self) -> None:
        """Connect; the tables must exist. Raises StoreError."""
        self._client = await _at_start(
            self._url,
            lambda: DBOSClient(
                system_database_url=self._url,
                serializer=DBOSPortableJSONSerializer(),
                use_listen_notify=True,
                application_name="bridle",
            ),
        )

    async def aclose(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            await asyncio.to_thread(client.destroy)

    @property
    def _engine(self) -> DBOSClient:
        if self._client is None:
            raise SessionNotRunning("this process has left the queues because it is ending")
        return self._client

    async def enqueue(
        self,
        assignment: str,
        order: Job,
        lane: QueueSpec,
        *,
        tenant: str,
        priority: int,
        delay_s: float = 0.0,
    ) -> None:
        """Put a job on a queue; does nothing if the queue already has one with this id."""
        options: EnqueueOptions = {
            "workflow_name": ASSIGNMENT,
            "queue_name": lane.name,
            "workflow_id": assignment,
            "app_version": PROTOCOL,
            "priority": priority,
            "attributes": {"session": order.session},
        }
        if delay_s:
            options["delay_seconds"] = delay_s
        if lane.is_shared:
            options["queue_partition_key"] = tenant or "-"
        await self._engine.enqueue_async(options, encode_job(order))

    async def taken(self, assignment: str, timeout_s: float) -> str:
        """Wait until a worker has taken the command of a job; return the outcome as text.

        Raises SessionBusy if no worker has started it in time, SessionNotRunning if it was cancelled.
        """
        deadline = asyncio.get_running_loop().time() + timeout_s
        while True:
            text: str | None = await self._engine.get_event_async(assignment, TAKEN, LOOK_S)
            if text is not None:
                return text
            found = await self._engine.list_workflows_async(workflow_ids=[assignment], load_input=False)
            status = found[0].status if found else "CANCELLED"
            if status in ("CANCELLED", "ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"):
                raise SessionNotRunning("this was cancelled before it started")
            if status == "SUCCESS":
                said: str | None = await self._engine.get_event_async(assignment, TAKEN, 0.0)
                if said is None:
                    raise SessionNotRunning("a worker ended this without a result", hint="check the session")
                return said
            is_untouched = status != "PENDING" and not found[0].executor_id
            if is_untouched and asyncio.get_running_loop().time() > deadline:
                if await self.call_off([assignment]):
                    raise SessionBusy(
                        f"no worker accepted this within {timeout_s:g} s",
                        hint="bridle scale status shows workers and queued work",
                    )
                # A worker started it just now. Once resumed, it finds its work and reports the outcome.
                await self._engine.resume_workflows_async([assignment], queue_name=found[0].queue_name)

    async def waiting(self, session: SessionId) -> list[str]:
        """Return the jobs of a session that no worker has started."""
        return await self._assignments(status="ENQUEUED", attributes={"session": session})

    async def has_job(self, session: SessionId) -> bool:
        """Return whether a job of a session is running or waiting."""
        found = ["ENQUEUED", "PENDING", "DELAYED"]
        return bool(await self._assignments(status=found, attributes={"session": session}, limit=1))

    async def call_off(self, assignments: Sequence[str]) -> bool:
        """Cancel jobs that no worker has started; False if one has started meanwhile, whose run continues."""
        if not assignments:
            return True
        await self._engine.cancel_workflows_async(list(assignments))
        found = await self._engine.list_workflows_async(
            workflow_ids=list(assignments), load_input=False, load_output=False
        )
        return not any(status.executor_id for status in found)

    async def requeue_lost(self, is_gone: Callable[[str], Awaitable[bool]]) -> int:
        """Requeue the jobs of dead workers; return how many.

        Only one process may do this at a time, because the jobs are listed before their workers are checked.
        """
        count = 0
        for kind in (ASSIGNMENT, LEASE):
            found = await self._pending(kind)
            for executor in {status.executor_id or "" for status in found}:
                if not await is_gone(executor):
                    continue
                cut_off = [status for status in found if (status.executor_id or "") == executor]
                if kind == LEASE:
                    await self._engine.cancel_workflows_async([status.workflow_id for status in cut_off])
                    continue
                for lane in {status.queue_name for status in cut_off}:
                    assignments = [status.workflow_id for status in cut_off if status.queue_name == lane]
                    await self._engine.resume_workflows_async(assignments, queue_name=lane)
                    count += len(assignments)
        return count

    async def _pending(self, kind: str) -> list[WorkflowStatus]:
        found: list[WorkflowStatus] = []
        while True:
            page = await self._engine.list_workflows_async(
                status="PENDING",
                name=kind,
                limit=CHUNK,
                offset=len(found),
                load_input=False,
                load_output=False,
            )
            found += page
            if len(page) < CHUNK:
                return found

    async def counts(self) -> dict[str, int]:
        """Return the numbers of waiting and running jobs."""
        waiting = await self._assignments(status="ENQUEUED")
        return {"waiting": len(waiting), "running": len(await self._assignments(status="PENDING"))}

    async def _assignments(self, **wanted: Any) -> list[str]:
        found = await self._engine.list_workflows_async(
            name=ASSIGNMENT, load_input=False, load_output=False, **wanted
        )
        return [status.workflow_id for status in found]

    async def forget(self, before: str) -> int:
        """Delete the records of jobs that ended before an ISO date; return how many."""
        count = 0
        while True:
            ended = await self._engine.list_workflows_async(
                completed_before=before, limit=CHUNK, load_input=False, load_output=False
            )
            if not ended:
                return count
            await self._engine.delete_workflows_async([status.workflow_id for status in ended])
            count += len(ended)


class Executor:
    """Runs jobs in this process and records the steps of their runs; implements the port `DurableSteps`."""

    def __init__(self, url: str, worker: str) -> None:
        self._url = url
        self._worker = worker
        self._drive: Drive | None = None
        self._leases: dict[SessionId, _Lease] = {}
        self._numbers = count(1)

    async def launch(self, drive: Drive, lanes: Sequence[QueueSpec], *, runs: int, poll_s: float) -> None:
        """Start to run jobs from these queues; the worker must already be registered as living."""
        self._drive = drive
        config: DBOSConfig = {
            "name": "bridle",
            "system_database_url": self._url,
            "application_version": PROTOCOL,
            "executor_id": self._worker,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "ERROR",  # we log database outages ourselves, once
        }
        DBOS(config=config)

        async def assignment(order: str) -> str:
            return await self._assignment(order)

        async def lease(session: str) -> str:
            return await self._live(SessionId(session))

        DBOS.workflow(name=ASSIGNMENT)(assignment)
        self._lease = DBOS.workflow(name=LEASE)(lease)
        DBOS.listen_queues([lane.name for lane in lanes])
        DBOS.launch()
        for lane in lanes:
            await DBOS.register_queue_async(
                lane.name,
                worker_concurrency=runs if lane.runs is None else min(runs, lane.runs),
                global_concurrency=lane.runs,
                limiter=_limiter(lane.starts),
                partition_concurrency=lane.tenant_runs,
                partition_limiter=_limiter(lane.tenant_starts),
                polling_interval_sec=poll_s,
                on_conflict="always_update",
            )

    async def aclose(self, timeout_s: float) -> None:
        """Take no more jobs, give running ones `timeout_s` to end, and stop."""
        await asyncio.to_thread(
            DBOS.destroy, destroy_registry=True, workflow_completion_timeout_sec=int(timeout_s)
        )
        # DBOS had installed its own thread pool as the event loop's executor, and has now shut it down.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())

    # ------------------------------------------------------------------ jobs

    async def _assignment(self, order: str) -> str:
        assert self._drive is not None
        assignment = DBOS.workflow_id
        assert assignment is not None

        async def tell(text: str) -> None:
            try:
                await DBOS.set_event_async(TAKEN, text)
            except dbos_errors.DBOSException as error:  # it was just cancelled: no caller waits any more
                log.info("assignment %s: %s", assignment, error)

        return await self._drive(assignment, order, tell)

    # ------------------------------------------------------------------ steps

    def begin(self, session: SessionId) -> None:
        """Mark the start of a session's job here: its work becomes steps of an attempt."""
        self._leases[session] = _Lease(Context())

    def end(self, session: SessionId) -> None:
        """Mark the end of a session's job."""
        if (lease := self._leases.pop(session, None)) is not None:
            lease.over.set()
            if not lease.began.done():  # it never will
                lease.began.set_result(None)

    async def perform(
        self, session: SessionId, name: str, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Run work as a step of the session's attempt."""

        async def step() -> None:
            await work()

        if (context := await self._context(session)) is None:
            await work()
        else:
            await _within(context, DBOS.run_step_async({"name": name}, step))

    async def pause(self, session: SessionId, seconds: float) -> None:
        """Sleep, using DBOS's timer."""
        if (context := await self._context(session)) is None:
            await asyncio.sleep(seconds)
        else:
            await _within(context, DBOS.sleep_async(seconds))

    async def child(
        self, parent: SessionId, child: SessionId, life: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Run a sub-agent as an attempt below its parent's."""
        context = await self._context(parent)
        if context is not None:
            self._leases[child] = _Lease(context.copy())
        try:
            await life()
        finally:
            self.end(child)

    async def _context(self, session: SessionId) -> Context | None:
        """Return the DBOS context of a session's attempt, which starts with its first step.

        None if the session has no attempt or DBOS is about to stop: then only the journal keeps track.
        """
        lease = self._leases.get(session)
        if lease is None:
            return None
        if lease.starting is None:
            start = self._start(session)
            lease.starting = asyncio.get_running_loop().create_task(start, context=lease.above)
        try:
            await asyncio.shield(lease.starting)
        except dbos_errors.DBOSException as error:
            log.info("session %s goes on without steps: %s", session, error)
            return None
        return await asyncio.shield(lease.began)

    async def _start(self, session: SessionId) -> None:
        name = f"{session}/{self._worker[-8:]}/{next(self._numbers)}"
        with SetWorkflowID(name):
            await DBOS.start_workflow_async(self._lease, session)

    async def _live(self, session: SessionId) -> str:
        lease = self._leases.get(session)
        if lease is None or lease.began.done():
            return "over"
        lease.began.set_result(copy_context())
        await lease.over.wait()
        return "over"


class _Lease:
    """The work of one session on this worker."""

    def __init__(self, above: Context) -> None:
        self.above = above
        """The DBOS context of its parent."""
        self.over = asyncio.Event()
        self.starting: asyncio.Task[None] | None = None
        self.began: asyncio.Future[Context | None] = asyncio.get_running_loop().create_future()


async def _within(context: Context, work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in another context, for the same tenant.

    If the caller is cancelled, the coroutine is cancelled and awaited.
    """
    inside = context.copy()
    inside.run(current.set, current.get())
    task = asyncio.get_running_loop().create_task(work, context=inside)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise


async def _at_start(url: str, work: Callable[[], T]) -> T:
    """Run a startup call, which DBOS does not retry when the database goes away; raises StoreError."""
    try:
        return await asyncio.to_thread(work)
    except DBAPIError as error:
        params = parse_url(url)
        raise to_store_error(display_name(params), error.orig or error, find_secrets(params)) from None


def _limiter(starts: tuple[int, float] | None) -> Any:
    return None if starts is None else {"limit": starts[0], "period": starts[1]}
