"""Tenants and API tokens in PostgreSQL; only the SHA-256 of a token's secret is stored."""

import secrets
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.codec import encode
from bridle.core.errors import StoreCorrupt, UsageError
from bridle.core.malformed import MALFORMED
from bridle.core.tenancy import (
    ID_BYTES,
    SCOPES,
    SECRET_BYTES,
    KeptToken,
    Principal,
    Scope,
    Tenant,
    check_tenant,
    check_user,
    format_token,
    secret_digest,
)
from bridle.stores.postgres.pool import Postgres

MAX_TENANTS = 100_000
MAX_TOKENS = 10_000  # of one tenant, in a list

_ADD = """
INSERT INTO bridle.tenants (name, settings) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING name
"""
_CHANGE = "UPDATE bridle.tenants SET settings = %s WHERE name = %s AND settings = %s RETURNING name"
_TENANT = """
SELECT settings, (extract(epoch FROM created_at) * 1000)::bigint FROM bridle.tenants WHERE name = %s
"""
_TENANTS = """
SELECT settings, (extract(epoch FROM created_at) * 1000)::bigint FROM bridle.tenants ORDER BY name LIMIT %s
"""
_REMOVE = """
WITH gone AS (DELETE FROM bridle.tenants WHERE name = %(name)s RETURNING name),
     tokens AS (UPDATE bridle.tokens SET revoked_at = now() WHERE tenant = %(name)s AND revoked_at IS NULL)
SELECT name FROM gone
"""
_SESSIONS_OF = "SELECT count(*) FROM bridle.sessions WHERE tenant = %s AND seq > 0"
_ADD_TOKEN = """
INSERT INTO bridle.tokens (id, tenant, username, scopes, hash, expires_at)
VALUES (%s, %s, %s, %s, %s, now() + make_interval(secs => %s))
ON CONFLICT DO NOTHING
"""
_LOOK_UP = """
SELECT token.tenant, token.username, token.scopes, token.hash,
       token.last_used_at IS NULL OR token.last_used_at < now() - interval '1 minute'
FROM bridle.tokens AS token
WHERE token.id = %s AND token.revoked_at IS NULL AND (token.expires_at IS NULL OR token.expires_at > now())
  AND (token.tenant = '' OR EXISTS (SELECT FROM bridle.tenants WHERE name = token.tenant))
"""
_USED = """
UPDATE bridle.tokens SET last_used_at = now()
WHERE id = %s AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')
"""
_TOKENS = """
SELECT id, tenant, username, scopes,
       (extract(epoch FROM created_at) * 1000)::bigint, (extract(epoch FROM expires_at) * 1000)::bigint,
       (extract(epoch FROM revoked_at) * 1000)::bigint, (extract(epoch FROM last_used_at) * 1000)::bigint
FROM bridle.tokens WHERE %(all)s OR tenant = %(tenant)s ORDER BY tenant, created_at, id LIMIT %(limit)s
"""
_REVOKE = """
UPDATE bridle.tokens SET revoked_at = coalesce(revoked_at, now()) WHERE id = %s RETURNING tenant
"""

_tenants = msgspec.json.Decoder(Tenant)


class TokenInfo(Struct, frozen=True):
    """A token without its secret; times are milliseconds since 1970."""

    id: str
    tenant: str
    user: str
    scopes: tuple[Scope, ...]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    last_used_at: int | None = None
    """To the minute."""


class NewToken(Struct, frozen=True):
    """A new token; its text is shown once and not stored."""

    id: str
    text: str


class PostgresTenants:
    """The tenants of a cluster and their tokens."""

    def __init__(self, postgres: Postgres, entropy: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._postgres = postgres
        self._entropy = entropy

    # ------------------------------------------------------------------ tenants

    async def add(self, tenant: Tenant) -> None:
        """Add a tenant; raises UsageError if the name is taken or the tenant is invalid."""
        tenant.check()
        if not await self._postgres.rows(_ADD, (tenant.name, encode(_stored(tenant)))):
            found = await self.tenant(tenant.name)  # the answer to the first attempt may have been lost
            if found is None or _stored(found) != _stored(tenant):
                raise UsageError(f"tenant {tenant.name} already exists", hint="bridle tenant set")

    async def tenant(self, name: str) -> Tenant | None:
        """Return a tenant; None if there is none of that name; raises StoreError."""
        found = await self._postgres.rows(_TENANT, (name,))
        return _tenant(*found[0]) if found else None

    async def tenants(self) -> list[Tenant]:
        """Return all tenants by name; raises StoreError."""
        return [_tenant(*row) for row in await self._postgres.rows(_TENANTS, (MAX_TENANTS,))]

    async def change(self, name: str, change: Callable[[Tenant], Tenant]) -> Tenant:
        """Change a tenant's settings, safely with concurrent changes; raises UsageError."""
        while True:
            kept, before = await self._existing(name)
            after = replace(change(before), name=name)
            after.check()
            changed = (encode(_stored(after)), name, kept)
            if before == after or await self._postgres.rows(_CHANGE, changed):
                return after

    async def remove(self, name: str) -> None:
        """Remove a tenant that has no sessions, and revoke its tokens; raises UsageError."""
        await self._existing(name)
        [(sessions,)] = await self._postgres.rows(_SESSIONS_OF, (name,))
        if sessions:
            raise UsageError(f"tenant {name} has {sessions} sessions", hint="delete them first")
        await self._postgres.rows(_REMOVE, {"name": name})

    async def _existing(self, name: str) -> tuple[bytes, Tenant]:
        """Return a tenant as stored and decoded; raises UsageError."""
        check_tenant(name)
        found = await self._postgres.rows(_TENANT, (name,))
        if not found:
            raise UsageError(f'no tenant "{name}"', hint="bridle tenant list")
        return found[0][0], _tenant(*found[0])

    # ------------------------------------------------------------------ tokens

    async def create_token(
        self, tenant: str, user: str, scopes: Sequence[Scope], expires_s: float | None = None
    ) -> NewToken:
        """Create a token for a user of a tenant; raises UsageError."""
        check_user(user)
        if not scopes or not set(scopes) <= set(SCOPES):
            raise UsageError("a token needs scopes", hint=f"use some of {', '.join(SCOPES)}")
        if tenant:
            await self._existing(tenant)
        token_id, secret = self._entropy(ID_BYTES).hex(), self._entropy(SECRET_BYTES)
        ordered = [scope for scope in SCOPES if scope in scopes]
        values = (token_id, tenant, user, ordered, secret_digest(secret), expires_s)
        await self._postgres.rows(_ADD_TOKEN, values)
        return NewToken(token_id, format_token(token_id, secret))

    async def token(self, token_id: str) -> KeptToken | None:
        """Return a token by its id; None if it is unknown, revoked or expired; raises StoreError."""
        found = await self._postgres.rows(_LOOK_UP, (token_id,))
        if not found:
            return None
        tenant, user, scopes, digest, is_stale = found[0]
        if is_stale:
            await self._postgres.rows(_USED, (token_id,))
        known = tuple(scope for scope in SCOPES if scope in scopes)
        return KeptToken(Principal(tenant, user, known, token_id), digest)

    async def tokens(self, tenant: str | None = None) -> list[TokenInfo]:
        """Return the tokens of a tenant, or of all; raises StoreError."""
        wanted = {"all": tenant is None, "tenant": tenant or "", "limit": MAX_TOKENS}
        rows = await self._postgres.rows(_TOKENS, wanted)
        return [TokenInfo(row[0], row[1], row[2], tuple(row[3]), *row[4:]) for row in rows]

    async def revoke(self, token_id: str) -> str:
        """Revoke a token permanently and return its tenant; raises UsageError for an unknown one."""
        found = await self._postgres.rows(_REVOKE, (token_id,))
        if not found:
            raise UsageError(f'no token "{token_id[:80]}"', hint="bridle token list")
        tenant: str = found[0][0]
        return tenant


def _stored(tenant: Tenant) -> Tenant:
    return replace(tenant, created_at=0)  # it has a separate column


def _tenant(settings: bytes, created_at: int) -> Tenant:
    try:
        return replace(_tenants.decode(settings), created_at=created_at)
    except MALFORMED as error:
        raise StoreCorrupt(f"the settings of a tenant cannot be read: {error}") from error
