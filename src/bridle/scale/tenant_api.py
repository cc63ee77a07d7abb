"""The session API of one principal: limited to the sessions of its tenant and to its scopes.

```
surface ─▶ TenantApi ─▶ SessionApi
             │ check that the token is valid and has the scope         else NotAllowed
             │ check that the session belongs to the tenant            else SessionNotFound
             │ check folder, mode, model, hooks and rules of the run   else UsageError, NotAllowed
             └ log each change                                         audit.<tenant>.<node>
```

The SessionNotFound is the same as for a session that does not exist.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar, overload

from msgspec.structs import replace

from bridle.core.errors import BridleError, NotAllowed, SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.messages import Message
from bridle.core.ports import ToolDispatcher
from bridle.core.protocol import LIKE_AGENT, AnyCommand, Delta, Fork, Prompt, Record, Resume, SessionOptions
from bridle.core.protocol.values import snake
from bridle.core.queries import ListSessions, Query, Status
from bridle.core.session_api import Receipt, SessionApi, SessionNews
from bridle.core.tenancy import AUDIT, NEEDS, Principal, Scope, Tenant, may_see, qualify_session, tenant_of
from bridle.scale.audit import AuditLog
from bridle.scale.tenant_folders import TenantFolders
from bridle.scale.tenant_models import (
    check_mode,
    check_options,
    get_requested_folder,
    restrict_command,
)
from bridle.system.current_tenant import current

A = TypeVar("A")

Standing = Callable[[Principal], Awaitable[Tenant]]
"""Returns the present tenant of a principal; raises NotAllowed if its token is no longer valid."""


class TenantApi:
    """The session API as one principal may use it."""

    def __init__(
        self,
        api: SessionApi,
        principal: Principal,
        standing: Standing,
        *,
        audit: AuditLog,
        folders: TenantFolders,
        new_id: Callable[[], str],
    ) -> None:
        """Set the parts; `api` serves all sessions, and the caller closes it."""
        self._api = api
        self._principal = principal
        self._standing = standing
        self._audit = audit
        self._folders = folders
        self._new_id = new_id

    @property
    def is_remote(self) -> bool:
        """True if the sessions live in another process: their runs continue when this one ends."""
        return self._api.is_remote

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
        """Create a session of the tenant, in one of its folders.

        Raises UsageError for another folder, NotAllowed for options that the tenant may not use.
        """
        wanted = session_id or SessionId(self._new_id())
        async with self._doing("create", NEEDS["create"], wanted) as (tenant, session):
            await self._folders.check(tenant, cwd)
            if not self._principal.is_cluster_admin:
                check_options(options, tenant)
            return await self._api.create(
                cwd=cwd,
                agent=agent,
                title=title,
                session_id=session,
                options=options,
                messages=messages,
                labels=labels,
            )

    async def submit(self, session: SessionId, command: AnyCommand) -> Receipt:
        """Submit a command to a session, within the limits of the tenant; raises NotAllowed, SessionError."""
        action = snake(type(command).__name__)
        async with self._doing(action, NEEDS[action], session) as (tenant, mine):
            if isinstance(command, Fork):
                child = qualify_session(tenant_of(mine), command.session_id or self._new_id())
                command = replace(command, session_id=child)
            if not self._principal.is_cluster_admin:
                command = restrict_command(command, tenant)
                if (cwd := get_requested_folder(command)) is not None:
                    await self._folders.check(tenant, cwd)
                if isinstance(command, Prompt | Resume):
                    check_mode((await self._api.ask(Status(mine))).facts.options, tenant)
            return await self._api.submit(mine, command)

    async def ask(self, query: Query[A]) -> A:
        """Answer a query about the tenant's sessions and folders; raises BridleError."""
        action = str(query.__struct_config__.tag)
        async with self._doing(action, query.scope, getattr(query, "session", "")) as (tenant, mine):
            if mine:
                query = replace(query, session=mine)
            if (cwd := getattr(query, "cwd", None)) is not None:
                await self._folders.check(tenant, cwd)
            answer: Any = await self._api.ask(query)
        if isinstance(query, ListSessions):
            answer = [summary for summary in answer if may_see(self._principal, summary.id)]
        return answer  # type: ignore[no-any-return]  # the type that the query declares

    @asynccontextmanager
    async def provide_tools(self, session: SessionId, dispatcher: ToolDispatcher) -> AsyncIterator[None]:
        """Let the session's runs call tools of the caller while the context is open."""
        async with self._doing("provide_tools", NEEDS["provide_tools"], session) as (_, mine):
            pass
        async with self._api.provide_tools(mine, dispatcher):
            yield

    @overload
    def watch(self, session: SessionId, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]: ...

    @overload
    def watch(self, session: None) -> AsyncGenerator[SessionNews, None]: ...

    def watch(self, session: SessionId | None, after: int | None = 0) -> AsyncGenerator[Any, None]:
        """Yield a session's records and deltas, or the news of visible sessions, while the token is valid."""
        return self._watch_all() if session is None else self._watch(session, after)

    async def _watch(self, session: SessionId, after: int | None) -> AsyncGenerator[Record | Delta, None]:
        async with self._doing("watch", NEEDS["watch"], session) as (_, mine):
            pass
        async with aclosing(self._api.watch(mine, after)) as items:
            async for item in items:
                await self._standing(self._principal)
                yield item

    async def _watch_all(self) -> AsyncGenerator[SessionNews, None]:
        async with self._doing("news", NEEDS["watch"]):
            pass
        async with aclosing(self._api.watch(None)) as items:
            async for news in items:
                if may_see(self._principal, news.session):
                    await self._standing(self._principal)
                    yield news

    async def aclose(self) -> None:
        """Do nothing: the caller closes the API of all sessions."""

    # ------------------------------------------------------------------ access control

    @asynccontextmanager
    async def _doing(
        self, action: str, scope: Scope, wanted: str = ""
    ) -> AsyncIterator[tuple[Tenant, SessionId]]:
        """Check that an action is allowed and run it as the tenant; audit changes and refusals."""
        who = self._principal
        changes = scope != "read"
        try:
            who.require(action, scope)
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
        if scope == "admin":
            await self._audit.flush()

    def _mine(self, wanted: str) -> SessionId:
        """Return the full id of the session that the principal names; raises SessionNotFound, UsageError."""
        owner = tenant_of(wanted)
        if not self._principal.is_cluster_admin or not owner:
            return qualify_session(self._principal.tenant, wanted)
        if owner == AUDIT:
            raise SessionNotFound(f'no session "{wanted}"', hint="bridle session list")
        return qualify_session(owner, wanted)
