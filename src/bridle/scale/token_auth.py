"""The principals behind tokens, and the session API that each gets.

A token is looked up at most every few seconds, so revoking one, and every change of a tenant, takes effect
within `KNOWN_S` at every node; streams that are open end with their next item.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from bridle.core.errors import NotAllowed
from bridle.core.ids import uuid7
from bridle.core.ports import Tenants
from bridle.core.session_api import SessionApi
from bridle.core.tenancy import SCOPES, KeptToken, Principal, Tenant, parse_token, secret_digest
from bridle.scale.audit import AuditLog
from bridle.scale.tenant_api import TenantApi
from bridle.scale.tenant_folders import TenantFolders

T = TypeVar("T")

KNOWN_S = 3.0
MAX_KNOWN = 4_096
MAX_LOOKUPS = 4  # at once: guessing tokens must not load the database any further

NODE = Principal(user="node", scopes=SCOPES)
"""The principal of the node's own token: the owner, allowed to do everything there."""


class TokenGate:
    """Maps tokens to principals and their tenants, cached for a few seconds."""

    def __init__(
        self,
        api: SessionApi,
        tenants: Tenants,
        audit: AuditLog,
        *,
        node_token: str = "",
        workspaces: str = "",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the API of all sessions; the token of the node gets it unchanged."""
        self.audit = audit
        self.folders = TenantFolders(tenants, workspaces)
        self._api = api
        self._node_token = node_token.encode()
        self._tokens: _Known[KeptToken] = _Known(tenants.token, now)
        self._tenants: _Known[Tenant] = _Known(tenants.tenant, now)

    async def principal(self, token: str) -> Principal | None:
        """Return the principal of a token; None if it is invalid; raises StoreError."""
        if self._node_token and hmac.compare_digest(token.encode(), self._node_token):
            return NODE
        parsed = parse_token(token)
        if parsed is None:
            return None
        token_id, secret = parsed
        kept = await self._tokens.get(token_id)
        if kept is None or not hmac.compare_digest(kept.digest, secret_digest(secret)):
            return None
        return kept.principal

    def api(self, principal: Principal) -> SessionApi:
        """Return the session API of a principal."""
        if principal == NODE:
            return self._api
        return TenantApi(
            self._api, principal, self.standing, audit=self.audit, folders=self.folders, new_id=_new_id
        )

    async def look(self, principal: Principal, target: str) -> None:
        """Check that a principal may read, also things that belong to no session; raises NotAllowed."""
        if principal.is_cluster_admin:
            return
        try:
            principal.require("read", "read")
        except NotAllowed:
            await self.audit.note(principal, "read", target, "refused")
            raise

    async def standing(self, principal: Principal) -> Tenant:
        """Return a principal's current tenant; raises NotAllowed if its token has expired or was revoked."""
        if principal != NODE and await self._tokens.get(principal.token_id) is None:
            raise NotAllowed("the token was revoked, or has expired", hint="bridle token create")
        if not principal.tenant:
            return Tenant()
        tenant = await self._tenants.get(principal.tenant)
        if tenant is None:
            raise NotAllowed(f"tenant {principal.tenant} is gone")
        return tenant


class _Known(Generic[T]):
    """A short-lived cache of lookups; misses are not cached."""

    def __init__(self, look_up: Callable[[str], Awaitable[T | None]], now: Callable[[], float]) -> None:
        self._look_up = look_up
        self._now = now
        self._kept: dict[str, tuple[T, float]] = {}
        self._lookups = asyncio.Semaphore(MAX_LOOKUPS)

    async def get(self, name: str) -> T | None:
        """Return the value, at most `KNOWN_S` old."""
        if (kept := self._kept.get(name)) is not None and kept[1] > self._now():
            return kept[0]
        async with self._lookups:
            if (kept := self._kept.get(name)) is not None and kept[1] > self._now():
                return kept[0]  # another task looked it up meanwhile
            began = self._now()
            found = await self._look_up(name)
            self._kept.pop(name, None)
            if found is not None:
                self._kept[name] = found, began + KNOWN_S
            for oldest in list(self._kept)[: len(self._kept) - MAX_KNOWN]:
                del self._kept[oldest]
        return found


def _new_id() -> str:
    return uuid7(time.time_ns() // 1_000_000, secrets.token_bytes(10))
