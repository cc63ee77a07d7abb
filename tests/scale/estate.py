"""Two tenants and an administrator on one engine, each with a token."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bridle.core.ids import SessionId
from bridle.core.protocol import Audited
from bridle.core.session_api import SessionApi
from bridle.core.tenancy import SCOPES, Scope, Tenant
from bridle.scale.audit import AuditLog, read_audit
from bridle.scale.token_auth import TokenGate
from bridle.sessions.service import SessionService
from tests.local_tenants import LocalTenants
from tests.sessions.stage import Play, Stage, says

NODE_TOKEN = "the token of the node"


class Estate:
    """A stage with a gate before it; `now` is the clock of the gate."""

    def __init__(self, stage: Stage, workspaces: Path) -> None:
        self.stage = stage
        self.now = 0.0
        self.workspaces = workspaces
        self.tenants = LocalTenants(os.urandom)
        for name in ("acme", "bolt"):
            self.tenants.put(Tenant(name))
            (workspaces / name).mkdir(exist_ok=True)
        self.audit = AuditLog(stage.store, "node", stage.clock.now_ms, delay_s=0.0)
        self.gate = TokenGate(
            stage.service,
            self.tenants,
            self.audit,
            node_token=NODE_TOKEN,
            workspaces=str(workspaces),
            now=lambda: self.now,
        )

    @property
    def service(self) -> SessionService:
        return self.stage.service

    def token(self, tenant: str, *scopes: Scope) -> str:
        """Make a token; with all scopes unless some are named."""
        return self.tenants.create_token(tenant, f"user-of-{tenant or 'all'}", scopes or SCOPES)

    async def api(self, tenant: str, *scopes: Scope) -> SessionApi:
        """Return the session API of a token with these scopes."""
        principal = await self.gate.principal(self.token(tenant, *scopes))
        assert principal is not None
        return self.gate.api(principal)

    def folder(self, tenant: str) -> str:
        return str(self.workspaces / tenant)

    async def session(self, tenant: str) -> SessionId:
        """Start a session of a tenant, past its own API."""
        return await self.service.create(
            cwd=self.folder(tenant), title=f"secret of {tenant}", session_id=SessionId(f"{tenant}.1")
        )

    async def audited(self, tenant: str | None = None) -> list[Audited]:
        """Return the entries of the audit."""
        await self.audit.flush()
        journals = await self.stage.store.list(archived=True)
        return [event async for event in read_audit(self.stage.store, journals, tenant)]


@asynccontextmanager
async def estate(tmp_path: Path, play: Play | None = None, **stage: object) -> AsyncIterator[Estate]:
    """Open the engine and close it."""
    async with Stage(play or Play(says("Done.")), **stage) as opened:
        made = Estate(opened, tmp_path)
        try:
            yield made
        finally:
            await made.audit.aclose()
