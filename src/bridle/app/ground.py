"""What sessions stand on that several processes share."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from bridle.app.postgres import open_postgres
from bridle.config.settings import Settings

if TYPE_CHECKING:
    from bridle.core.ports import Claims, Models, Purse, Steps, Store, Workplaces
    from bridle.sessions.bus import Bus


class Ground(Struct, frozen=True):
    """What a process that shares its sessions with others has opened for them."""

    store: "Store"
    claims: "Claims"
    bus: "Bus"
    steps: "Steps | None" = None
    purse: "Purse | None" = None
    workplaces: "Workplaces | None" = None
    bound: "Callable[[Models], Models] | None" = None
    """Holds what tenants may use of the models to their bounds."""


def shared_ground(settings: Settings) -> Ground | None:
    """Open it for a process that runs sessions by itself; None where nothing is. Raises ConfigError."""
    if settings.store.backend != "postgres":
        return None
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
