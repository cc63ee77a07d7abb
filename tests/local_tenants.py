"""Tenants, tokens and tenant budgets in memory, in place of those in PostgreSQL."""

from collections.abc import Callable, Sequence

from bridle.core.budget import Limits, Spend
from bridle.core.ids import RunId, SessionId
from bridle.core.tenancy import (
    SCOPES,
    KeptToken,
    Principal,
    Scope,
    Tenant,
    TenantLimits,
    format_token,
    secret_digest,
    tenant_of,
)
from bridle.core.tenant_budget import Amount, Reservation, cut_limits, to_amount


class LocalTenants:
    """Holds tenants and tokens in memory."""

    def __init__(self, entropy: Callable[[int], bytes]) -> None:
        self._entropy = entropy
        self._tenants: dict[str, Tenant] = {}
        self._tokens: dict[str, KeptToken] = {}

    def put(self, tenant: Tenant) -> None:
        """Add or change a tenant; raises UsageError, ConfigError."""
        tenant.check()
        self._tenants[tenant.name] = tenant

    def create_token(self, tenant: str, user: str, scopes: Sequence[Scope] = SCOPES) -> str:
        """Create a token and return its text."""
        token_id, secret = self._entropy(8).hex(), self._entropy(32)
        principal = Principal(tenant, user, tuple(scopes), token_id)
        self._tokens[token_id] = KeptToken(principal, secret_digest(secret))
        return format_token(token_id, secret)

    def revoke(self, token_id: str) -> None:
        """Revoke a token."""
        self._tokens.pop(token_id, None)

    async def tenant(self, name: str) -> Tenant | None:
        """Return a tenant; None if there is none of that name."""
        return self._tenants.get(name)

    async def token(self, token_id: str) -> KeptToken | None:
        """Return a token by its id; None if it is unknown or revoked."""
        return self._tokens.get(token_id)


class LocalBudgets:
    """Tracks tenants' spending in one process; daily and monthly amounts are never reset."""

    def __init__(self, limits: Callable[[str], TenantLimits]) -> None:
        """`limits` returns the limits of a tenant."""
        self._limits = limits
        self._taken: dict[str, Amount] = {}
        self._held: dict[tuple[SessionId, RunId], tuple[Limits, Amount]] = {}
        self._settled: set[tuple[SessionId, RunId]] = set()

    async def reserve(self, session: SessionId, run_id: RunId, wanted: Limits) -> Limits:
        """Reserve the most a run may use; return `wanted`, reduced to what is left. Raises BudgetSpent."""
        tenant = tenant_of(session)
        if not tenant:
            return wanted
        if (known := self._held.get((session, run_id))) is not None:
            return known[0]
        taken = self._taken.get(tenant, Amount())
        granted = cut_limits(tenant, self._limits(tenant), wanted, taken, taken)
        self._taken[tenant] = taken + granted.held
        self._held[session, run_id] = granted.limits, granted.held
        return granted.limits

    async def settle(self, session: SessionId, run_id: RunId, used: Spend) -> None:
        """Replace a run's reservation by what it used; a second call changes nothing."""
        key = session, run_id
        if key not in self._held or key in self._settled:
            return
        self._settled.add(key)
        tenant = tenant_of(session)
        self._taken[tenant] = self._taken[tenant] - self._held[key][1] + to_amount(used)

    async def unsettled(self, older_s: float, limit: int) -> Sequence[Reservation]:
        """Return the reservations of unsettled runs, oldest first; `older_s` is ignored."""
        found = [Reservation(*key, held) for key, (_, held) in self._held.items() if key not in self._settled]
        return found[:limit]

    def taken(self, tenant: str) -> Amount:
        """Return what a tenant has used plus what is reserved for its runs."""
        return self._taken.get(tenant, Amount())
