"""`bridle token`: create, list and revoke the API tokens of a cluster."""

import argparse
from datetime import UTC, datetime
from typing import cast

from msgspec import Struct, json

from bridle.app.tenant_admin import TenantAdmin
from bridle.config.duration import parse_duration
from bridle.core.errors import ConfigError, UsageError
from bridle.core.tenancy import DEFAULT_TENANT, SCOPES, Scope, parse_token
from bridle.surfaces.cli.table import write_table
from bridle.surfaces.cli.tenants import administer, query
from bridle.surfaces.shared.terminal import Console

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
        console.out.json(json.format(json.encode(found), indent=2))
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
