"""A door for one principal: of all sessions those of its tenant are there, and what its scopes allow.

```
surface ─▶ TenantDoor ─▶ Door
             │ the token still counts, the scope is there      NotAllowed
             │ the name is one of the tenant's                 SessionNotFound, as for any that is not there
             │ folder, mode, model, hooks, rules of the run    UsageError, NotAllowed
             └ what changes something is noted                 audit.<tenant>.<node>
```
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

from bridle.core.door import Door, NextContext, Receipt, RewindPlan, SessionNews
from bridle.core.errors import BridleError, NotAllowed, SessionNotFound
from bridle.core.glance import Glance
from bridle.core.ids import RunId, SessionId
from bridle.core.ports import ToolDispatcher
from bridle.core.protocol import Command, Delta, Record, RunEnded
from bridle.core.protocol.names import snake
from bridle.core.revision import FileChange
from bridle.core.servers import PromptView, ServerView
from bridle.core.session import Session
from bridle.core.summary import SessionSummary
from bridle.core.tenancy import AUDIT, NEEDS, Principal, Tenant, may_see, session_in, tenant_of
from bridle.scale.audit import AuditLog
from bridle.scale.tamed import folder_wanted, tamed
from bridle.scale.tenant_folders import TenantFolders
from bridle.system.tenant import current

Standing = Callable[[Principal], Awaitable[Tenant]]
"""What holds for a principal by now; raises NotAllowed once its token counts no more."""


class TenantDoor:
    """What one principal sees of a door."""

    def __init__(
        self,
        door: Door,
        principal: Principal,
        standing: Standing,
        *,
        audit: AuditLog,
        folders: TenantFolders,
        new_id: Callable[[], str],
    ) -> None:
        """Take the door of all, which is not ours to close."""
        self._door = door
        self._principal = principal
        self._standing = standing
        self._audit = audit
        self._folders = folders
        self._new_id = new_id

    @property
    def outlives_us(self) -> bool:
        """Tell whether the sessions are in another process, where runs go on without this one."""
        return self._door.outlives_us

    # ------------------------------------------------------------------ what changes something

    async def create(
        self, *, cwd: str, agent: str = "", title: str = "", session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a session of the tenant, in one of its folders; raises UsageError for another folder."""
        wanted = session_id or SessionId(self._new_id())
        async with self._doing("create", wanted) as (tenant, session):
            await self._folders.check(tenant, cwd)
            return await self._door.create(cwd=cwd, agent=agent, title=title, session_id=session)

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Hand a command to a session, within what the tenant may; raises NotAllowed, SessionError."""
        async with self._doing(snake(type(command).__name__), session) as (tenant, mine):
            if not self._principal.is_cluster_admin:
                command = tamed(command, tenant)
                if (cwd := folder_wanted(command)) is not None:
                    await self._folders.check(tenant, cwd)
            return await self._door.submit(mine, command)

    @asynccontextmanager
    async def lend(self, session: SessionId, dispatcher: ToolDispatcher) -> AsyncIterator[None]:
        """Let the runs of a session call tools of the caller's own, as long as the context is open."""
        async with self._doing("lend", session) as (_, mine):
            pass
        async with self._door.lend(mine, dispatcher):
            yield

    async def fork(
        self, session: SessionId, at: int | None = None, *, session_id: SessionId | None = None
    ) -> SessionId:
        """Begin a child session of the same tenant with the messages up to sequence number `at`."""
        async with self._doing("fork", session) as (_, mine):
            tenant = tenant_of(mine)
            child = session_in(tenant, session_id or self._new_id())
            return await self._door.fork(mine, at, session_id=child)

    async def delete(self, session: SessionId) -> None:
        """Remove a session for good; raises SessionBusy while it runs."""
        async with self._doing("delete", session) as (_, mine):
            await self._door.delete(mine)

    # ------------------------------------------------------------------ what only looks

    async def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after` and what follows, as long as the token counts."""
        async with self._doing("watch", session) as (_, mine):
            pass
        async with aclosing(self._door.watch(mine, after)) as items:
            async for item in items:
                await self._standing(self._principal)
                yield item

    async def news(self) -> AsyncGenerator[SessionNews, None]:
        """Yield how every session of the tenant is that is in memory, and from then on what changes."""
        async with self._doing("news"):
            pass
        async with aclosing(self._door.news()) as items:
            async for news in items:
                if may_see(self._principal, news.session):
                    await self._standing(self._principal)
                    yield news

    async def wait(self, session: SessionId, run_id: RunId, after: int = 0) -> RunEnded:
        """Wait for a run's end."""
        async with self._doing("wait", session) as (_, mine):
            return await self._door.wait(mine, run_id, after)

    async def read(self, session: SessionId) -> Session:
        """Return the whole session as stored."""
        async with self._doing("read", session) as (_, mine):
            return await self._door.read(mine)

    async def glance(self, session: SessionId) -> Glance:
        """Say how a session is, without its messages; raises SessionNotFound."""
        async with self._doing("glance", session) as (_, mine):
            return await self._door.glance(mine)

    async def records(self, session: SessionId, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return stored records in order; raises SessionNotFound."""
        async with self._doing("records", session) as (_, mine):
            return await self._door.records(mine, after, limit)

    async def list(self, *, archived: bool = False) -> Sequence[SessionSummary]:
        """Return a summary of every session of the tenant, newest first."""
        async with self._doing("list"):
            found = await self._door.list(archived=archived)
        return [summary for summary in found if may_see(self._principal, summary.id)]

    async def is_running(self, session: SessionId) -> bool:
        """Tell whether somebody drives a run of the session, in whichever process."""
        async with self._doing("is_running", session) as (_, mine):
            return await self._door.is_running(mine)

    async def plan_rewind(self, session: SessionId, to_seq: int) -> RewindPlan:
        """Say what going back would do to the files, without doing it."""
        async with self._doing("plan_rewind", session) as (_, mine):
            return await self._door.plan_rewind(mine, to_seq)

    async def changes(
        self, session: SessionId, after: int = 0, upto: int | None = None
    ) -> Sequence[FileChange]:
        """Return what the session changed on disk with after < seq <= upto, as one step."""
        async with self._doing("changes", session) as (_, mine):
            return await self._door.changes(mine, after, upto)

    async def describe(self, changes: Sequence[FileChange]) -> str:
        """Show changes as a diff, of contents that are kept for the tenant."""
        async with self._doing("describe"):
            return await self._door.describe(changes)

    async def next_context(self, session: SessionId, at: int | None = None) -> NextContext:
        """Return what the next turn would send, without sending it, or would have sent after record `at`."""
        async with self._doing("next_context", session) as (_, mine):
            return await self._door.next_context(mine, at)

    async def servers(self, cwd: str) -> Sequence[ServerView]:
        """Say how the tool servers and language servers of a folder of the tenant are."""
        async with self._doing("servers") as (tenant, _):
            await self._folders.check(tenant, cwd)
            return await self._door.servers(cwd)

    async def server_prompts(self, cwd: str) -> Sequence[PromptView]:
        """Return the prompts of servers that a prompt can call as `/name`."""
        async with self._doing("server_prompts") as (tenant, _):
            await self._folders.check(tenant, cwd)
            return await self._door.server_prompts(cwd)

    async def aclose(self) -> None:
        """Leave the door to who has opened it."""

    # ------------------------------------------------------------------ who may

    @asynccontextmanager
    async def _doing(self, action: str, wanted: str = "") -> AsyncIterator[tuple[Tenant, SessionId]]:
        """Let an action through, in the name of the tenant; note it if it changes something."""
        who = self._principal
        changes = NEEDS[action] != "read"
        try:
            who.require(action)
            tenant = await self._standing(who)
            session = self._mine(wanted) if wanted else SessionId("")
            token = current.set(tenant_of(session) if session else who.tenant)
            try:
                yield tenant, session
            finally:
                current.reset(token)
        except NotAllowed:
            await self._audit.note(who, action, wanted, "refused")
            raise
        except BridleError:
            if changes:
                await self._audit.note(who, action, wanted, "failed")
            raise
        if changes:
            await self._audit.note(who, action, session, "done")
        if NEEDS[action] == "admin":
            await self._audit.flush()

    def _mine(self, wanted: str) -> SessionId:
        """Return the session that the principal means; raises SessionNotFound, UsageError."""
        owner = tenant_of(wanted)
        if not self._principal.is_cluster_admin or not owner:
            return session_in(self._principal.tenant, wanted)
        if owner == AUDIT:
            raise SessionNotFound(f'no session "{wanted}"', hint="bridle session list")
        return session_in(owner, wanted)
