"""The ports for tenants of a shared cluster: tokens, folders and budgets."""

from collections.abc import Sequence
from typing import Protocol

from bridle.core.budget import Limits, Spend
from bridle.core.ids import RunId, SessionId
from bridle.core.tenancy import Bounds, KeptToken, Tenant
from bridle.core.tenant_budget import Reservation


class Tenants(Protocol):
    """Look up tenants and tokens."""

    async def tenant(self, name: str) -> Tenant | None:
        """Return a tenant by name; None if it does not exist. Raises StoreError."""
        ...

    async def token(self, token_id: str) -> KeptToken | None:
        """Return a token by its id; None if it is unknown, revoked or expired. Raises StoreError."""
        ...


class FolderPolicy(Protocol):
    """Check where the sessions of tenants may work."""

    async def check_session(self, session: SessionId, cwd: str) -> None:
        """Raise UsageError if a session may not work in a folder, links resolved now; raises StoreError."""
        ...

    async def bounds(self, session: SessionId) -> Bounds | None:
        """Return the bounds that hold whatever rules a client sends; None for none. Raises StoreError."""
        ...


class TenantBudget(Protocol):
    """The remaining budget of a tenant, shared by all workers that run its sessions."""

    async def reserve(self, session: SessionId, run_id: RunId, wanted: Limits) -> Limits:
        """Set aside the most that a run may use, and return its limits cut to that; raises BudgetSpent.

        A second call for the same run returns the same limits and sets nothing more aside. A refusal sets
        nothing aside and is not stored: a later call may grant what other runs have returned since. A caller
        that was refused, or cannot know the answer, gives up the run with `settle`.
        """
        ...

    async def settle(self, session: SessionId, run_id: RunId, used: Spend) -> None:
        """Replace what was set aside for a run with its actual use; a second call changes nothing.

        Waits for a `reserve` of the same run that is in progress.
        """
        ...

    async def unsettled(self, older_s: float, limit: int) -> Sequence[Reservation]:
        """Return up to `limit` unsettled reservations, at least `older_s` seconds old, oldest first."""
        ...
