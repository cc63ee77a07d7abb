"""Who may do what, where, and for how much, where several share a cluster."""

from collections.abc import Sequence
from typing import Protocol

from bridle.core.budget import Limits, Spend
from bridle.core.ids import RunId, SessionId
from bridle.core.purse import Reservation
from bridle.core.tenancy import Bounds, KeptToken, Tenant


class Tenants(Protocol):
    """Knows the tenants, and whose a token is."""

    async def tenant(self, name: str) -> Tenant | None:
        """Return what holds for a tenant; None when there is none; raises StoreError."""
        ...

    async def token(self, token_id: str) -> KeptToken | None:
        """Return a token by its id; None for an unknown, revoked or expired one; raises StoreError."""
        ...


class Workplaces(Protocol):
    """Knows where the sessions of tenants may work."""

    async def check_session(self, session: SessionId, cwd: str) -> None:
        """Refuse a folder where a session may not work, as it leads by now; raises UsageError, StoreError."""
        ...

    async def bounds(self, session: SessionId) -> Bounds | None:
        """Return what holds whatever rules a client brings; None for anywhere; raises StoreError."""
        ...


class Purse(Protocol):
    """What a tenant has left, shared by all who run its sessions."""

    async def reserve(self, session: SessionId, run_id: RunId, wanted: Limits) -> Limits:
        """Set aside what a run may use at most, and return its limits, cut to that; raises BudgetSpent.

        Asked again for the same run it returns the same limits, and sets nothing aside a second time. A
        refusal sets nothing aside and is not kept: asked again, it may grant what other runs gave back since.
        A caller that was refused, or cannot know the answer, gives up the run with `settle`.
        """
        ...

    async def settle(self, session: SessionId, run_id: RunId, used: Spend) -> None:
        """Count what a run has used in the place of what was set aside; a second time changes nothing.

        It waits for a `reserve` of the same run that is under way.
        """
        ...

    async def unsettled(self, older_s: float, limit: int) -> Sequence[Reservation]:
        """Return what was set aside at least that long ago for runs that were not settled, oldest first."""
        ...
