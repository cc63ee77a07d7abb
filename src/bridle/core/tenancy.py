"""Tenants: which tenant owns a session, which user makes a request, and what that user may do.

```
acme.0198f2c1-…      a session of the tenant acme
0198f2c1-…           a session of the default tenant, which has no name
audit.acme.node-1    the audit journal of acme at one node; it belongs to no tenant
```

A tenant may write its session ids with or without the prefix. Every id without the prefix gets it, so a
tenant cannot refer to another tenant's session.
"""

import hashlib
import re
from itertools import takewhile
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import fields

from bridle.core.budget import Limits
from bridle.core.errors import ConfigError, NotAllowed, SessionNotFound, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.permission import SHELL_TOOL, Action, Rule, parse_rule

# ---------------------------------------------------------------------------- api token
# The text of an API token: `brdl_<id>_<secret>`.


BEGIN = "brdl_"
ID_BYTES = 8
SECRET_BYTES = 32
MAX_CHARS = 128

_TOKEN = re.compile(r"brdl_([0-9a-f]{16})_([0-9a-f]{64})")


def format_token(token_id: str, secret: bytes) -> str:
    """Return the token that a client sends."""
    return f"{BEGIN}{token_id}_{secret.hex()}"


def parse_token(text: str) -> tuple[str, bytes] | None:
    """Return the id and the secret of a token; None if the text is not a token."""
    found = _TOKEN.fullmatch(text) if len(text) <= MAX_CHARS else None
    return None if found is None else (found[1], bytes.fromhex(found[2]))


def secret_digest(secret: bytes) -> bytes:
    """Return the hash to store for a secret: with 256 random bits it cannot be reversed."""
    return hashlib.sha256(secret).digest()


# ---------------------------------------------------------------------------- tenancy


Scope = Literal["read", "run", "decide", "admin"]
"""`read`: see sessions; `run`: start and control runs; `decide`: answer approvals and questions; `admin`:
delete sessions and issue tokens."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
AUDIT = "audit"
"""Prefix of the audit journals' ids; no tenant can have this name."""
DEFAULT_TENANT = "_"
"""Stands for the default tenant where a name is required."""
MAX_RULES = 200
MAX_FOLDERS = 50
MAX_USER_CHARS = 100

_GLOB = frozenset("*?[]{}!")
_TENANT = re.compile(r"[a-z][a-z0-9-]{0,31}")
_PREFIX = re.compile(r"([a-z][a-z0-9-]{0,31})\.")
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")

NEEDS: dict[str, Scope] = {
    "create": "run",
    "provide_tools": "run",
    "watch": "read",
    "fork": "run",
    "delete": "admin",
    "prompt": "run",
    "steer": "run",
    "resume": "run",
    "decide": "decide",
    "reply": "decide",
    "cancel": "run",
    "edit_queued": "run",
    "drop_queued": "run",
    "rewind": "run",
    "compact": "run",
    "pin": "run",
    "push": "run",
    "rename": "run",
    "archive": "run",
    "configure": "admin",
    "label": "run",
}
"""The scope that each method of the session API and each command needs; questions carry their own."""


class Principal(Struct, frozen=True):
    """The user of a tenant who makes a request, identified by a token."""

    tenant: str = ""
    user: str = ""
    scopes: tuple[Scope, ...] = ()
    token_id: str = ""

    @property
    def is_cluster_admin(self) -> bool:
        """True if the user may see and change everything of every tenant."""
        return not self.tenant and "admin" in self.scopes

    def require(self, action: str, scope: Scope) -> None:
        """Raise NotAllowed unless the user has the scope for an action."""
        if scope not in self.scopes:
            raise NotAllowed(
                f'{action}: the token of {self.user or "an unknown user"} has no scope "{scope}"',
                hint=f"bridle token create with --scope {scope}",
            )


class KeptToken(Struct, frozen=True):
    """The stored part of a valid token."""

    principal: Principal
    digest: bytes
    """SHA-256 of its secret."""


class TenantLimits(Struct, frozen=True, omit_defaults=True):
    """What all runs of a tenant may use together; `day` and `month` limit only tokens and cost."""

    day: Limits = Limits()
    month: Limits = Limits()
    run: Limits = Limits()
    """Upper bound for each run; a run may have tighter limits."""


class Tenant(Struct, frozen=True, omit_defaults=True):
    """A tenant: the limits, rules, folders and models of its sessions."""

    name: str = ""
    limits: TenantLimits = TenantLimits()
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    yolo: bool = False
    """True if a client may start runs that need no approvals."""
    folders: tuple[str, ...] = ()
    """Absolute paths where its sessions may work; () means its own folder below `scale.tenant_folders`."""
    models: tuple[str, ...] = ()
    """Models that a client may choose, as patterns such as `openai/*`; () means all."""
    created_at: int = 0
    """In milliseconds since 1970."""

    def check(self) -> None:
        """Raise UsageError or ConfigError if a field is invalid."""
        check_tenant(self.name)
        rules: tuple[tuple[Action, tuple[str, ...]], ...] = (
            ("allow", self.allow),
            ("ask", self.ask),
            ("deny", self.deny),
        )
        for action, texts in rules:
            if len(texts) > MAX_RULES:
                raise ConfigError(f"tenant {self.name}: more than {MAX_RULES} {action} rules")
            for text in texts:
                parse_rule(action, text)
        if len(self.folders) > MAX_FOLDERS or len(self.models) > MAX_FOLDERS:
            raise ConfigError(f"tenant {self.name}: more than {MAX_FOLDERS} folders or models")
        for folder in self.folders:
            if not folder.startswith("/") or "\0" in folder or "/../" in f"{folder}/":
                raise UsageError(f'tenant {self.name}: the folder "{folder[:200]}" is not an absolute path')
        for period in fields(self.limits):
            getattr(self.limits, period.name).check()


class Bounds(Struct, frozen=True):
    """Where a tenant's runs may work, regardless of the rules their client sends."""

    folders: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    """The tenant's own allow rules."""

    def hold(self, rule: Rule) -> bool:
        """Return True if a rule opens nothing outside the folders to file tools, which have no sandbox."""
        if rule.action != "allow" or rule.tool == SHELL_TOOL or not rule.pattern.startswith("/"):
            return True
        fixed = "/".join(takewhile(_GLOB.isdisjoint, rule.pattern.split("/")))
        is_inside = any(f"{fixed}/".startswith(f"{folder.rstrip('/')}/") for folder in self.folders)
        return is_inside or any(parse_rule("allow", text) == rule for text in self.allow)


def check_tenant(name: str) -> None:
    """Raise UsageError if a text cannot name a tenant."""
    if _TENANT.fullmatch(name) is None:
        raise UsageError(
            f'"{name[:80]}" cannot name a tenant',
            hint="use a lowercase letter, then up to 31 lowercase letters, digits and dashes",
        )
    if name == AUDIT:
        raise UsageError(
            f'a tenant cannot be called "{AUDIT}"', hint="the name is reserved for audit journals"
        )


def check_user(name: str) -> None:
    """Raise UsageError if a text cannot name a user."""
    if len(name) > MAX_USER_CHARS or _USER.fullmatch(name) is None:
        raise UsageError(
            f'"{name[:MAX_USER_CHARS]}" cannot name a user', hint="use letters, digits and . _ @ + -"
        )


def tenant_of(session: str) -> str:
    """Return the tenant of a session; empty for the default tenant."""
    found = _PREFIX.match(session)
    return "" if found is None else found[1]


def qualify_session(tenant: str, wanted: str) -> SessionId:
    """Return the full id of a tenant's session; raises SessionNotFound, and UsageError for an invalid id."""
    if not is_session_id(wanted):
        raise UsageError(
            f'"{wanted[:200]}" cannot name a session', hint="use letters, digits, dots and dashes"
        )
    if tenant_of(wanted) == tenant:
        return SessionId(wanted)
    if not tenant:
        raise SessionNotFound(f'no session "{wanted}"', hint="bridle session list")
    session = f"{tenant}.{wanted}"
    if not is_session_id(session):
        raise UsageError(f'"{wanted}" is too long for a session name')
    return SessionId(session)


def may_see(principal: Principal, session: str) -> bool:
    """Return True if a user may see a session."""
    owner = tenant_of(session)
    return owner == principal.tenant or (principal.is_cluster_admin and owner != AUDIT)


def audit_session(tenant: str, node: str) -> SessionId:
    """Return the id of a tenant's audit journal at a node."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", node)[:64] or "node"
    return SessionId(f"{AUDIT}.{tenant or DEFAULT_TENANT}.{name}")


def audited_tenant(session: str) -> str | None:
    """Return the tenant of an audit journal; None for any other session."""
    begin, _, rest = session.partition(".")
    name = rest.partition(".")[0]
    if begin != AUDIT or not name:
        return None
    return "" if name == DEFAULT_TENANT else name
