"""What sessions stand on: of this process alone, or of several that share it."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from bridle.app.postgres import open_postgres
from bridle.app.stores import open_claims, open_store
from bridle.config.settings import Settings

if TYPE_CHECKING:
    from bridle.core.ports import Claims, Models, Purse, Steps, Store, Workplaces
    from bridle.sessions.bus import Bus


class Ground(Struct, frozen=True):
    """What a process has opened for its sessions."""

    store: "Store"
    claims: "Claims"
    bus: "Bus"
    steps: "Steps | None" = None
    purse: "Purse | None" = None
    workplaces: "Workplaces | None" = None
    bound: "Callable[[Models], Models] | None" = None
    """Holds what tenants may use of the models to their bounds."""
    is_users: bool = False
    """What is said is kept with the user, and may be recalled."""


def open_ground(settings: Settings, store: "Store | None" = None) -> Ground:
    """Open it for a process that runs sessions by itself, on the store it has or the usual one."""
    from bridle.sessions.bus import Bus

    if store is not None:
        return Ground(store, open_claims(settings), Bus())
    if settings.store.backend == "postgres":
        return _shared_ground(settings)
    return Ground(open_store(settings), open_claims(settings), Bus(), is_users=True)


def _shared_ground(settings: Settings) -> Ground:
    postgres = open_postgres(settings, looks_first=True)
    from bridle.scale.guest import GuestClaims, GuestStore
    from bridle.scale.members import Member, Members
    from bridle.sessions.bus import Bus
    from bridle.sessions.world import SystemChance, SystemClock
    from bridle.stores.postgres.claims import PostgresClaims

    scale = settings.scale
    host = scale.node or socket.gethostname()
    me = Member(f"{host}-guest-{SystemChance().entropy(6).hex()}", host)
    kept = PostgresClaims(postgres, me.id)
    members = Members(postgres, kept, me, beat_s=float(scale.beat), dead_after_s=float(scale.dead_after))
    claims = GuestClaims(kept, members)
    return Ground(GuestStore(postgres, SystemClock(), claims, me.id), claims, Bus())
