"""The store, claims and bus of a process's sessions: private to it, or shared with other processes."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from bridle.app.postgres import open_postgres
from bridle.app.stores import open_claims, open_store
from bridle.config.settings import Settings

if TYPE_CHECKING:
    from bridle.core.ports import Claims, DurableSteps, FolderPolicy, Models, Store, TenantBudget
    from bridle.sessions.bus import Bus


class SessionBackend(Struct, frozen=True):
    """The opened storage and cluster services for a process's sessions."""

    store: "Store"
    claims: "Claims"
    bus: "Bus"
    steps: "DurableSteps | None" = None
    tenant_budget: "TenantBudget | None" = None
    workplaces: "FolderPolicy | None" = None
    bound: "Callable[[Models], Models] | None" = None
    """Wraps the models so that tenants can use only those they may use."""
    is_users: bool = False
    """True if conversations are stored on the user's machine, so that memory may search them."""


def open_backend(settings: Settings, store: "Store | None" = None) -> SessionBackend:
    """Open storage for a process that runs its own sessions, on the given store or the configured one."""
    from bridle.sessions.bus import Bus

    if store is not None:
        return SessionBackend(store, open_claims(settings), Bus())
    if settings.store.backend == "postgres":
        return _open_shared(settings)
    return SessionBackend(open_store(settings), open_claims(settings), Bus(), is_users=True)


def _open_shared(settings: Settings) -> SessionBackend:
    postgres = open_postgres(settings, looks_first=True)
    from bridle.scale.guest import GuestClaims, GuestStore
    from bridle.scale.members import Member, Members
    from bridle.sessions.bus import Bus
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.postgres.claims import PostgresClaims

    scale = settings.scale
    host = scale.node or socket.gethostname()
    me = Member(f"{host}-guest-{SystemChance().entropy(6).hex()}", host)
    kept = PostgresClaims(postgres, me.id)
    members = Members(postgres, kept, me, beat_s=float(scale.beat), dead_after_s=float(scale.dead_after))
    claims = GuestClaims(kept, members)
    return SessionBackend(GuestStore(postgres, SystemClock(), claims, me.id), claims, Bus())
