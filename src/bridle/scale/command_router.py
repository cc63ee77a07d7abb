"""Routes a command: to the worker that drives its session, or onto a queue as a job.

| the session | the command |
|---|---|
| is driven by a worker | is sent to it over the remote protocol |
| is not driven | becomes a job, which some worker runs |
| was driven by a worker that is gone | waits until that is detected, then becomes a job |

A resent prompt has the same key, so it is taken once.
"""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from msgspec.structs import replace

from bridle.config.scale_keys import ScaleSettings
from bridle.core.errors import DaemonGone, NotDrivenHere, SessionBusy, SessionNotFound, WorkspaceLost
from bridle.core.ids import SessionId
from bridle.core.protocol import Cancel, Command, Prompt, RunOptions, Steer
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.session_status import SessionStatus
from bridle.core.tenancy import tenant_of
from bridle.scale.durable import JobQueue, QueueSpec
from bridle.scale.jobs import Job, decode_outcome
from bridle.scale.members import MemberCache
from bridle.scale.peer_connections import PeerConnections
from bridle.stores.postgres.pool import Postgres

# ---------------------------------------------------------------------------- queues
# Chooses the queue of a job, by the label its worker needs, by the session's machine and by the model.
#
# ```
# bridle                 any worker
# bridle.gpu             one with the label gpu
# bridle@build-3         one on that machine, where the session's folder is
# bridle.gpu:…           the same for a model that has its own limits
# ```


_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def choose_label(scale: ScaleSettings, *, agent: str, folder: str, tenant: str) -> str:
    """Return the label that a session's worker must have; empty for none."""
    for place in scale.placement:
        is_inside = not place.folder or f"{folder}/".startswith(f"{place.folder.rstrip('/')}/")
        if place.agent in ("", agent) and place.tenant in ("", tenant) and is_inside:
            return place.label
    return ""


def choose_queue(scale: ScaleSettings, *, label: str, node: str, model: str) -> QueueSpec:
    """Return the queue of a session: that of its machine if it is bound to one, else that of its label."""
    name = f"bridle@{node}" if node else "bridle" + (f".{label}" if label else "")
    return _lane(scale, name, model)


def list_queues(scale: ScaleSettings, node: str) -> Iterator[QueueSpec]:
    """Yield the queues that a worker serves."""
    names = [f"bridle.{label}" for label in scale.labels]
    if not scale.only_labels:
        names.append("bridle")
    if scale.workspaces == "local":
        names.append(f"bridle@{node}")
    for name in names:
        yield _lane(scale, name, "")
        yield from (_lane(scale, name, model) for model in scale.models)


def _lane(scale: ScaleSettings, name: str, model: str) -> QueueSpec:
    tenants, limits = scale.tenants, scale.models.get(model)
    return QueueSpec(
        name=name if limits is None else f"{name}:{_ODD.sub('-', model)}",
        runs=None if limits is None else limits.runs,
        starts=None if limits is None or limits.starts is None else (limits.starts, float(limits.period)),
        tenant_runs=tenants.runs,
        tenant_starts=None if tenants.starts is None else (tenants.starts, float(tenants.period)),
    )


# ---------------------------------------------------------------------------- command router


AGAIN_S = 0.05
FIRST = 1  # the priority of commands for a run that has started
LONGEST_S = 1.0
LOOK_S = 2.0  # between checks whether the worker of a command still lives

_WHERE = "SELECT owner, node FROM bridle.sessions WHERE id = %s AND seq > 0"
_BIND = "UPDATE bridle.sessions SET node = %s WHERE id = %s AND node = ''"

ModelOf = Callable[[str, str], str]
"""Returns the model of an agent in a folder; raises ConfigError."""


class CommandRouter:
    """Finds the worker of a session, or queues work for one."""

    def __init__(
        self,
        postgres: Postgres,
        scale: ScaleSettings,
        dispatch: JobQueue,
        roster: MemberCache,
        peers: PeerConnections,
        *,
        me: str,
        new_id: Callable[[], str],
        model_of: ModelOf,
    ) -> None:
        self._postgres = postgres
        self._scale = scale
        self._dispatch = dispatch
        self._roster = roster
        self._peers = peers
        self._me = me
        self._new_id = new_id
        self._model_of = model_of

    async def holder(self, session: SessionId) -> str:
        """Return the id of the process that drives a session; empty if there is none. Raises StoreError."""
        return (await self._where(session))[0]

    async def has_job(self, session: SessionId) -> bool:
        """Return whether a job of a session is running or waiting."""
        return await self._dispatch.has_job(session)

    async def api_of(self, session: SessionId) -> SessionApi | None:
        """Return the worker that drives a session, if it is not this one; raises OSError, StoreError."""
        holder = await self.holder(session)
        return None if holder in ("", self._me) else await self._api(holder)

    async def find_worker(self, session: SessionId | None = None) -> SessionApi | None:
        """Return the session API of a worker that can serve this session, or any; None if this process can.

        Raises SessionBusy if there is none.
        """
        node = (await self._where(session))[1] if session is not None else ""
        workers = [one for one in await self._roster.workers() if node in ("", one.node)]
        if any(one.id == self._me for one in workers):
            return None
        for worker in workers:
            try:
                return await self._peers.api(worker.address)
            except OSError:
                continue
        raise SessionBusy("no worker is running", hint="start one: bridle worker")

    async def bind(self, session: SessionId, node: str) -> None:
        """Bind a session to a machine, unless it is already bound; raises StoreError."""
        await self._postgres.rows(_BIND, (node, session))

    # ------------------------------------------------------------------ commands

    async def submit(self, session: SessionId, command: Command, status: SessionStatus) -> Receipt:
        """Have a command taken by the right worker; raises SessionError, StoreError."""
        command = self._named(command)
        deadline = time.monotonic() + float(self._scale.take_timeout)
        wait_s = AGAIN_S
        while True:
            holder, node = await self._where(session)
            try:
                if not holder or holder == self._me:
                    return await self._by_assignment(session, command, status, node)
                return await self.send_to_worker(holder, session, command)
            except NotDrivenHere:
                if time.monotonic() > deadline:
                    raise SessionBusy(
                        f"session {session} is held by {holder or 'a worker'}, which does not answer",
                        hint="bridle scale status",
                    ) from None
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_S)

    async def send_to_worker(self, holder: str, session: SessionId, command: Command) -> Receipt:
        """Send a command to a worker; raises NotDrivenHere if it is unreachable or released the session."""
        member = await self._roster.find(holder)
        if member is not None and not member.address:
            raise SessionBusy(
                f"session {session} is being run by a command on {member.node}", hint="wait for it to end"
            )
        try:
            api = await self._api(holder)
            return await self._answer(holder, api.submit(session, command))
        except (DaemonGone, OSError) as error:
            raise NotDrivenHere(f"{holder} does not answer: {error}") from error

    async def _answer(self, holder: str, work: Coroutine[Any, Any, Receipt]) -> Receipt:
        """Wait for a worker's answer while it lives: the connection to a frozen worker looks intact."""
        task = asyncio.create_task(work)
        try:
            while not (await asyncio.wait([task], timeout=LOOK_S))[0]:
                if await self._roster.find(holder) is None:
                    raise NotDrivenHere(f"{holder} is gone")
            return task.result()
        finally:
            task.cancel()

    async def order(
        self, order: Job, status: SessionStatus, *, assignment: str, delay_s: float = 0.0
    ) -> None:
        """Put a job on the queue that suitable workers serve."""
        session, created = order.session, status.facts.created
        _, node = await self._where(session)
        tenant = tenant_of(session)
        label = choose_label(self._scale, agent=created.agent, folder=created.cwd, tenant=tenant)
        model = self._model(order, status)
        if node:
            await self._require_node(session, node)
        lane = choose_queue(self._scale, label=label, node=node, model=model)
        priority = self._scale.priority if isinstance(order.command, Prompt) else FIRST
        await self._dispatch.enqueue(
            assignment, order, lane, tenant=tenant, priority=priority, delay_s=delay_s
        )

    async def _by_assignment(
        self, session: SessionId, command: Command, status: SessionStatus, node: str
    ) -> Receipt:
        if isinstance(command, Cancel) and (waiting := await self._dispatch.waiting(session)):
            if not await self._dispatch.call_off(waiting):
                raise NotDrivenHere(f"a worker has just started session {session}")
            if status.run is None and not status.facts.queue:  # else queued prompts would never run
                return Receipt(status.seq)
        assignment = f"{session}:{self._new_id()}"
        await self.order(Job(session, command, status.seq), status, assignment=assignment)
        return decode_outcome(await self._dispatch.taken(assignment, float(self._scale.take_timeout)))

    def _named(self, command: Command) -> Command:
        """Give the command a deduplication key, and drop options that apply only on the sender's machine."""
        if isinstance(command, Prompt):
            options = replace(command.options, env={})
            return replace(command, options=options, key=command.key or f"leg-{self._new_id()}")
        if isinstance(command, Steer) and not command.key:
            return replace(command, key=f"leg-{self._new_id()}")
        return command

    def _model(self, order: Job, status: SessionStatus) -> str:
        if not self._scale.models:
            return ""
        options = order.command.options if isinstance(order.command, Prompt) else RunOptions()
        created = status.facts.created
        if status.run is not None:
            return status.run.model
        return options.model or self._model_of(options.agent or created.agent, created.cwd)

    async def _require_node(self, session: SessionId, node: str) -> None:
        if not any(one.node == node and one.address for one in await self._roster.all()):
            raise WorkspaceLost(
                f"session {session} works in a folder on the machine {node}, which has no worker",
                hint=f'start a worker there (scale.node = "{node}")',
            )

    async def _api(self, holder: str) -> SessionApi:
        member = await self._roster.find(holder)
        if member is None or not member.address:
            raise ConnectionError(f"{holder} is gone")
        return await self._peers.api(member.address)

    async def _where(self, session: SessionId) -> tuple[str, str]:
        found = await self._postgres.rows(_WHERE, (session,))
        if not found:
            raise SessionNotFound(f'no session "{session}"', hint="bridle session list")
        return found[0][0], found[0][1]
