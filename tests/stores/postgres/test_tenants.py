"""Tenants and tokens in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from bridle.core.budget import Limits
from bridle.core.errors import UsageError
from bridle.core.protocol import SessionCreated
from bridle.core.tenancy import SCOPES, KeptToken, Principal, Tenant, TenantLimits, parse_token, secret_digest
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from bridle.stores.postgres.tenants import PostgresTenants
from tests.postgres import fresh_database
from tests.stores.sample import CountingClock

ACME = Tenant(
    "acme",
    limits=TenantLimits(day=Limits(tokens=5, cost=0.5)),
    deny=("bash",),
    yolo=True,
    folders=("/srv",),
    models=("a/*",),
)


@pytest.fixture
async def postgres() -> AsyncIterator[Postgres]:
    opened = Postgres(fresh_database())
    yield opened
    await opened.aclose()


async def test_a_tenant_is_kept_changed_and_removed(postgres: Postgres):
    tenants = PostgresTenants(postgres)
    await tenants.add(ACME)
    found = await tenants.tenant("acme")
    assert found is not None
    assert found.created_at > 1_700_000_000_000
    assert replace(found, created_at=0) == ACME
    await tenants.add(ACME)  # the same once more is what a lost answer looks like
    with pytest.raises(UsageError, match="tenant acme already exists"):
        await tenants.add(Tenant("acme"))

    changed = await tenants.change("acme", lambda tenant: replace(tenant, yolo=False))
    assert changed == replace(found, yolo=False)
    assert await tenants.tenants() == [changed]

    await tenants.remove("acme")
    assert await tenants.tenants() == []
    for act in (tenants.remove("acme"), tenants.change("acme", lambda tenant: tenant)):
        with pytest.raises(UsageError, match='no tenant "acme"'):
            await act


async def test_two_changes_at_once_are_both_made(postgres: Postgres):
    tenants = PostgresTenants(postgres)
    await tenants.add(Tenant("acme"))

    def allowing(number: int):
        return lambda tenant: replace(tenant, allow=(*tenant.allow, f"tool{number}"))

    await asyncio.gather(*(tenants.change("acme", allowing(number)) for number in range(6)))

    found = await tenants.tenant("acme")
    assert found is not None
    assert sorted(found.allow) == [f"tool{number}" for number in range(6)]


async def test_a_tenant_with_sessions_stays(postgres: Postgres):
    tenants = PostgresTenants(postgres)
    await tenants.add(ACME)
    await PostgresStore(postgres, CountingClock()).append("acme.1", 0, [SessionCreated("acme.1", "/")])

    with pytest.raises(UsageError, match="tenant acme has 1 sessions"):
        await tenants.remove("acme")


async def test_a_token_is_known_by_the_digest_of_its_secret(postgres: Postgres):
    tenants = PostgresTenants(postgres)
    await tenants.add(ACME)
    made = await tenants.create_token("acme", "ann", ("run", "read"))
    parsed = parse_token(made.text)
    assert parsed is not None
    token_id, secret = parsed

    assert token_id == made.id
    principal = Principal("acme", "ann", ("read", "run"), made.id)
    assert await tenants.token(made.id) == KeptToken(principal, secret_digest(secret))
    assert await tenants.token("0" * 16) is None
    [view] = await tenants.tokens("acme")
    assert (view.user, view.scopes, view.expires_at, view.revoked_at) == ("ann", ("read", "run"), None, None)
    assert view.last_used_at is not None
    assert await tenants.tokens("") == []
    everything = await postgres.rows("SELECT row_to_json(t)::text FROM bridle.tokens t")
    assert secret.hex() not in str(everything)
    assert secret not in str(everything).encode()


async def test_a_token_that_was_revoked_or_has_expired_is_none(postgres: Postgres):
    tenants = PostgresTenants(postgres)
    await tenants.add(ACME)
    revoked = await tenants.create_token("acme", "ann", SCOPES)
    expired = await tenants.create_token("", "bob", ("read",), expires_s=0.0)
    later = await tenants.create_token("", "bob", ("read",), expires_s=3600.0)
    assert await tenants.revoke(revoked.id) == "acme"
    assert await tenants.revoke(revoked.id) == "acme"

    assert await tenants.token(revoked.id) is None
    assert await tenants.token(expired.id) is None
    assert await tenants.token(later.id) is not None
    with pytest.raises(UsageError, match='no token "nope"'):
        await tenants.revoke("nope")


async def test_the_tokens_of_a_removed_tenant_count_no_more(postgres: Postgres):
    tenants = PostgresTenants(postgres)
    await tenants.add(ACME)
    made = await tenants.create_token("acme", "ann", SCOPES)
    await tenants.remove("acme")
    assert await tenants.token(made.id) is None
    await tenants.add(ACME)

    assert await tenants.token(made.id) is None  # also when another tenant gets the name


@pytest.mark.parametrize(
    ("tenant", "user", "scopes"),
    [("acme", "", ("read",)), ("acme", "ann", ()), ("acme", "ann", ("all",)), ("nobody", "ann", ("read",))],
)
async def test_what_cannot_be_a_token(postgres: Postgres, tenant: str, user: str, scopes: tuple):
    tenants = PostgresTenants(postgres)
    await tenants.add(ACME)

    with pytest.raises(UsageError):
        await tenants.create_token(tenant, user, scopes)
    assert await tenants.tokens() == []
