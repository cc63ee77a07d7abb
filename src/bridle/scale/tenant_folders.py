"""Checks in which folders the sessions of a tenant may work.

| checked | by | what |
|---|---|---|
| the path as text | the gateway, before a session begins or a run moves | absolute, no `..`, inside |
| its target | a machine with the disk: maybe the gateway, the worker before a run | inside, links resolved |
"""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import Tenants
from bridle.core.tenancy import Bounds, Tenant, tenant_of

MAX_PATH_CHARS = 4096


class TenantFolders(Struct, frozen=True):
    """The folders of every tenant; the default tenant may work anywhere."""

    tenants: Tenants
    workspaces: str
    """The parent of the automatic folders of tenants without configured folders; empty for none."""
    unwalled: str = ""
    """Why there is no sandbox here; if set, tenants' runs are refused."""

    def of(self, tenant: Tenant) -> tuple[str, ...]:
        """Return the folders of a tenant."""
        if tenant.folders or not tenant.name or not self.workspaces:
            return tenant.folders
        return (os.path.join(self.workspaces, tenant.name),)

    async def check(self, tenant: Tenant, cwd: str) -> None:
        """Check that a folder is inside a tenant's folders; raises UsageError."""
        if not tenant.name:
            return
        folders = self.of(tenant)
        if not _is_plain(cwd) or not _is_inside(cwd, folders):
            raise _outside(tenant.name, cwd, folders)
        if not await asyncio.to_thread(_leads_inside, cwd, folders):
            raise _outside(tenant.name, cwd, folders)

    async def check_session(self, session: SessionId, cwd: str) -> None:
        """Check the folder of a session on the machine with its files; raises UsageError, StoreError.

        Creates a tenant's automatic folder if it is missing.
        """
        tenant = await self._tenant_of(session)
        if tenant is None:
            return
        if self.unwalled:
            raise UsageError(
                f"runs of tenant {tenant.name} need a sandbox, but on this worker {self.unwalled}",
                hint="bridle sandbox status, at the worker",
            )
        if not tenant.folders:
            for folder in self.of(tenant):
                with suppress(OSError):  # the check below reports a missing folder
                    await asyncio.to_thread(Path(folder).mkdir, 0o700, parents=True, exist_ok=True)
        await self.check(tenant, cwd)

    async def bounds(self, session: SessionId) -> Bounds | None:
        """Return the limits that no client rule can lift; None for unlimited; raises StoreError."""
        tenant = await self._tenant_of(session)
        return None if tenant is None else Bounds(self.of(tenant), tenant.allow)

    async def _tenant_of(self, session: SessionId) -> Tenant | None:
        """Return the tenant of a session, None for the default tenant; raises UsageError, StoreError."""
        name = tenant_of(session)
        tenant = await self.tenants.tenant(name) if name else None
        if name and tenant is None:
            raise UsageError(f"session {session} belongs to a tenant that is gone", hint="bridle tenant add")
        return tenant


def is_within(path: str, folders: Sequence[str]) -> bool:
    """Return whether a local path is inside one of the folders, with links resolved; blocks."""
    return _is_plain(path) and _is_inside(path, folders) and _leads_inside(path, folders)


def _is_plain(path: str) -> bool:
    return (
        len(path) <= MAX_PATH_CHARS
        and path.startswith("/")
        and "\0" not in path
        and ".." not in path.split("/")
    )


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    clean = os.path.normpath(path)
    return any(
        clean == root or clean.startswith(f"{root.rstrip('/')}/") for root in map(os.path.normpath, folders)
    )


def _leads_inside(path: str, folders: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return _is_inside(real, [os.path.realpath(folder) for folder in folders])


def _outside(tenant: str, cwd: str, folders: Sequence[str]) -> UsageError:
    shown = ", ".join(folders[:5]) or "no folder: scale.tenant_folders is not set"
    return UsageError(
        f'cwd: "{cwd[:200]}" is not a folder of tenant {tenant}', hint=f"it may work in {shown}"
    )
