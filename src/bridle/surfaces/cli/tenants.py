"""`bridle tenant` and `bridle audit`: manage the tenants of a cluster, and show the audit log."""

import argparse
import asyncio
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar, cast

from msgspec import Struct, json
from msgspec.structs import replace

from bridle.app.tenant_admin import TenantAdmin, acting_user, open_tenancy
from bridle.config.duration import parse_duration
from bridle.core.budget import Limits
from bridle.core.errors import ConfigError, UsageError
from bridle.core.protocol import Audited, AuditOutcome
from bridle.core.tenancy import (
    AUDIT,
    DEFAULT_TENANT,
    SCOPES,
    Principal,
    Scope,
    Tenant,
    TenantLimits,
    parse_token,
)
from bridle.core.tenant_budget import NANO
from bridle.scale.audit import read_audit
from bridle.surfaces.cli.output.data import print_json, write_table
from bridle.surfaces.cli.scale_args import PERIODS
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.terminal import Console
from bridle.surfaces.shared.usage import time_before

T = TypeVar("T")

LISTS = {"allow": "allow", "ask": "ask", "deny": "deny", "folder": "folders", "model": "models"}
NO_LIMIT = "none"


class PeriodUse(Struct, frozen=True):
    """Usage in a day or a month, including what is reserved for active runs."""

    period: str
    tokens: int
    cost: float


class TenantView(Struct, frozen=True):
    """The output of `tenant show --json`."""

    tenant: Tenant
    use: list[PeriodUse]


def add(args: argparse.Namespace, console: Console) -> int:
    """Add a tenant."""
    tenant = apply_flags(Tenant(args.name), args)
    tenant.check()
    administer(console, "tenant add", args.name, lambda tenancy: tenancy.tenants.add(tenant))
    console.done(f"tenant {args.name} added")
    console.hint(f"bridle token create --tenant {args.name} --user NAME")
    return 0


def change(args: argparse.Namespace, console: Console) -> int:
    """Change a tenant's settings."""

    async def work(tenancy: TenantAdmin) -> None:
        await tenancy.tenants.change(args.name, lambda tenant: apply_flags(tenant, args))

    administer(console, "tenant set", args.name, work)
    console.done(f"tenant {args.name} changed; all nodes apply it within seconds")
    return 0


def remove(args: argparse.Namespace, console: Console) -> int:
    """Remove a tenant that has no sessions."""
    administer(console, "tenant remove", args.name, lambda tenancy: tenancy.tenants.remove(args.name))
    console.done(f"tenant {args.name} removed, and its tokens revoked")
    return 0


def list_tenants(args: argparse.Namespace, console: Console) -> int:
    """List the tenants."""
    found = query(console, lambda tenancy: tenancy.tenants.tenants())
    if args.json:
        print_json(console.out, found)
    elif found:
        rows = [(tenant.name, _when(tenant.created_at), _limits_line(tenant.limits)) for tenant in found]
        write_table(console.out, ("TENANT", "ADDED", "LIMITS"), rows)
    else:
        console.err.line("no tenants yet")
        console.hint("bridle tenant add NAME")
    return 0


def show(args: argparse.Namespace, console: Console) -> int:
    """Show one tenant and its usage."""

    async def work(tenancy: TenantAdmin) -> TenantView:
        tenant = await tenancy.tenants.tenant(args.name)
        if tenant is None:
            raise UsageError(f'no tenant "{args.name[:80]}"', hint="bridle tenant list")
        use = await tenancy.budgets.use(args.name)
        return TenantView(tenant, [PeriodUse(name, sum_.tokens, sum_.nano / NANO) for name, sum_ in use])

    view = query(console, work)
    if args.json:
        print_json(console.out, view)
        return 0
    tenant = view.tenant
    rows = [
        ("limits", _limits_line(tenant.limits)),
        *((name, ", ".join(getattr(tenant, field)) or "-") for name, field in LISTS.items()),
        ("yolo", "on" if tenant.yolo else "off"),
        *((f"used {use.period}", f"{use.tokens} tokens, ${use.cost:.4f}") for use in view.use),
    ]
    write_table(console.out, (tenant.name, ""), rows)
    return 0


def audit(args: argparse.Namespace, console: Console) -> int:
    """Show the audit log, oldest first."""
    since = since_ms(args.since)
    tenant = "" if args.tenant == DEFAULT_TENANT else args.tenant

    async def work(tenancy: TenantAdmin) -> list[Audited]:
        journals = await tenancy.store.list(archived=True, tenant=AUDIT)
        return [event async for event in read_audit(tenancy.store, journals, tenant, since)]

    found = sorted(query(console, work), key=lambda event: event.acted_at)
    if args.json:
        print_json(console.out, found)
        return 0
    rows = [
        (_when(one.acted_at), one.tenant or DEFAULT_TENANT, one.user, one.action, one.outcome, one.target)
        for one in found
    ]
    write_table(console.out, ("TIME", "TENANT", "USER", "ACTION", "OUTCOME", "TARGET"), rows)
    return 0


# ---------------------------------------------------------------------------- database access


def query(console: Console, work: Callable[[TenantAdmin], Awaitable[T]]) -> T:
    """Call `work` with the cluster's database; raises ConfigError, StoreError."""

    async def asking() -> T:
        settings = load_settings_here(console)
        async with open_tenancy(settings) as tenancy:
            return await work(tenancy)

    return asyncio.run(asking())


def administer(console: Console, action: str, target: str, work: Callable[[TenantAdmin], Awaitable[T]]) -> T:
    """Make a change to the cluster and audit it, even if it fails, before returning."""
    who = Principal(user=acting_user(), scopes=SCOPES, token_id="cli")

    async def working(tenancy: TenantAdmin) -> T:
        outcome: AuditOutcome = "failed"
        try:
            result = await work(tenancy)
            outcome = "done"
        finally:
            await tenancy.audit.note(who, action, target, outcome)
            await tenancy.audit.flush()
        return result

    return query(console, working)


def since_ms(text: str | None) -> int:
    """Return the start time that `--since` gives, in milliseconds since 1970; raises UsageError."""
    if text is None:
        return 0
    try:
        return time_before(text)
    except ConfigError as error:
        raise UsageError(f"--since: {error.message}", hint="write for example 7d, 12h or 30m") from None


# ---------------------------------------------------------------------------- flags


def apply_flags(tenant: Tenant, args: argparse.Namespace) -> Tenant:
    """Return the tenant with the flags applied; raises UsageError."""
    limits = {period: _limits(getattr(tenant.limits, period), args, period) for period in PERIODS}
    lists = {field: () for name, field in LISTS.items() if name in args.clear}
    lists |= {field: tuple(found) for name, field in LISTS.items() if (found := getattr(args, name))}
    yolo = tenant.yolo if args.yolo is None else args.yolo == "on"
    return replace(tenant, limits=TenantLimits(**limits), yolo=yolo, **lists)


def _limits(before: Limits, args: argparse.Namespace, period: str) -> Limits:
    tokens: str | None = getattr(args, f"tokens_per_{period}")
    cost: str | None = getattr(args, f"cost_per_{period}")
    return replace(
        before,
        tokens=before.tokens if tokens is None else _number(f"--tokens-per-{period}", tokens, int),
        cost=before.cost if cost is None else _number(f"--cost-per-{period}", cost, float),
    )


def _number(flag: str, text: str, kind: "Callable[[str], T]") -> T | None:
    if text == NO_LIMIT:
        return None
    try:
        value = kind(text)
        if not 0 <= float(str(value)) < math.inf:
            raise ValueError
    except (ValueError, OverflowError):
        raise UsageError(f'{flag}: "{text[:80]}" is not an amount', hint=f"a number, or {NO_LIMIT}") from None
    return value


def _limits_line(limits: TenantLimits) -> str:
    parts = []
    for period in PERIODS:
        found: Limits = getattr(limits, period)
        if found.tokens is not None:
            parts.append(f"{found.tokens} tokens a {period}")
        if found.cost is not None:
            parts.append(f"${found.cost:g} a {period}")
    return ", ".join(parts) or "none"


def _when(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


# ---------------------------------------------------------------------------- tokens


DEFAULT_SCOPES: tuple[Scope, ...] = ("read", "run", "decide")
HEADINGS = ("ID", "TENANT", "USER", "SCOPES", "CREATED", "LAST USED", "STATE")


class CreatedToken(Struct, frozen=True):
    """The output of `token create --json`."""

    id: str
    token: str


def create(args: argparse.Namespace, console: Console) -> int:
    """Create a token and print it."""
    scopes = _scopes(args.scope) or DEFAULT_SCOPES
    expires_s = _expires(args.expires)
    tenant = "" if args.tenant == DEFAULT_TENANT else args.tenant

    async def work(tenancy: TenantAdmin) -> CreatedToken:
        made = await tenancy.tenants.create_token(tenant, args.user, scopes, expires_s)
        return CreatedToken(made.id, made.text)

    made = administer(console, "token create", f"{tenant or DEFAULT_TENANT}/{args.user}", work)
    if args.json:
        console.out.json(json.encode(made))
    else:
        console.out.line(made.token)
        console.err.line("keep it safe: it cannot be shown again")
    return 0


def list_tokens(args: argparse.Namespace, console: Console) -> int:
    """List tokens, without their secrets."""
    tenant = "" if args.tenant == DEFAULT_TENANT else args.tenant
    found = query(console, lambda tenancy: tenancy.tenants.tokens(tenant))
    if args.json:
        print_json(console.out, found)
        return 0
    now_ms = datetime.now(UTC).timestamp() * 1000
    rows = []
    for token in found:
        is_over = token.expires_at is not None and token.expires_at <= now_ms
        state = "revoked" if token.revoked_at is not None else "expired" if is_over else "good"
        times = (_day(token.created_at), _day(token.last_used_at))
        rows.append(
            (token.id, token.tenant or DEFAULT_TENANT, token.user, ",".join(token.scopes), *times, state)
        )
    write_table(console.out, HEADINGS, rows)
    return 0


def revoke(args: argparse.Namespace, console: Console) -> int:
    """Revoke a token."""
    parsed = parse_token(args.id)
    token_id = args.id if parsed is None else parsed[0]
    administer(console, "token revoke", token_id, lambda tenancy: tenancy.tenants.revoke(token_id))
    console.done(f"token {token_id} revoked; all nodes reject it within seconds")
    return 0


def _scopes(texts: list[str]) -> tuple[Scope, ...]:
    wanted = [scope for text in texts for scope in text.split(",")]
    for scope in wanted:
        if scope not in SCOPES:
            raise UsageError(
                f'--scope: "{scope[:80]}" is not a scope', hint=f"use some of {', '.join(SCOPES)}"
            )
    return tuple(cast(Scope, scope) for scope in wanted)


def _expires(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(parse_duration(text))
    except ConfigError as error:
        raise UsageError(f"--expires: {error.message}", hint="write for example 90d or 12h") from None


def _day(at_ms: int | None) -> str:
    return "-" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%MZ")
