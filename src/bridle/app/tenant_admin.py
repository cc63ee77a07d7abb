"""Wiring for tenant administration: tenants, tokens, budgets and the audit log."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from bridle.app.postgres import open_postgres
from bridle.config.settings import Settings
from bridle.core.errors import ConfigError

if TYPE_CHECKING:
    from bridle.scale.audit import AuditLog
    from bridle.stores.postgres.budgets import PostgresBudgets
    from bridle.stores.postgres.store import PostgresStore
    from bridle.stores.postgres.tenants import PostgresTenants


class TenantAdmin(Struct, frozen=True):
    """The tenant administration of a cluster."""

    tenants: "PostgresTenants"
    budgets: "PostgresBudgets"
    store: "PostgresStore"
    audit: "AuditLog"


@asynccontextmanager
async def open_tenancy(settings: Settings) -> AsyncIterator[TenantAdmin]:
    """Open the database of a cluster; raises ConfigError if the store is not PostgreSQL, and StoreError."""
    if settings.store.backend != "postgres":
        raise ConfigError(
            f"tenants need the PostgreSQL store, but store.backend is {settings.store.backend}",
            hint="bridle config set store.backend postgres, and store.url",
        )
    postgres = open_postgres(settings, size=2, looks_first=True)
    from bridle.scale.audit import AuditLog
    from bridle.sessions.system_clock import SystemClock
    from bridle.stores.postgres.budgets import PostgresBudgets
    from bridle.stores.postgres.store import PostgresStore
    from bridle.stores.postgres.tenants import PostgresTenants

    try:
        await postgres.open()
        clock = SystemClock()
        store = PostgresStore(postgres, clock)
        audit = AuditLog(store, f"{settings.scale.node or socket.gethostname()}-cli", clock.now_ms)
        try:
            yield TenantAdmin(PostgresTenants(postgres), PostgresBudgets(postgres), store, audit)
        finally:
            await audit.aclose()
    finally:
        await postgres.aclose()


def acting_user() -> str:
    """Return the operating system's name of the current user."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
