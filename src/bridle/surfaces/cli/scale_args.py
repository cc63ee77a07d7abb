"""Argument definitions of `bridle worker`, `gateway`, `scale`, `tenant`, `token` and `audit`; no behavior."""

from bridle.surfaces.cli.parser import Commands, Parser, add_command, add_group, add_json_flag

# ---------------------------------------------------------------------------- token


TOKEN_EXAMPLES = """\
examples:
  bridle token create --tenant acme --user ann --scope read --scope run --expires 90d
  bridle token list --tenant acme
  bridle token revoke 5f1c0a9be2d47703
"""


def add_token(commands: Commands) -> None:
    """Add the `bridle token` commands."""
    group = add_group(commands, "token", "create and revoke API tokens of a cluster", epilog=TOKEN_EXAMPLES)
    create = add_command(
        group,
        "create",
        "tenants:create",
        "create a token and print it once",
        description="Create a token and print it. Only a digest is stored, so it cannot be shown again.",
    )
    create.add_argument(
        "--tenant", metavar="NAME", default="", help="the tenant (default: the default tenant)"
    )
    create.add_argument("--user", metavar="NAME", required=True, help="the user who gets it, for the audit")
    create.add_argument(
        "--scope",
        metavar="SCOPE",
        action="append",
        default=[],
        help="read, run, decide or admin (repeatable; default: read, run, decide)",
    )
    create.add_argument("--expires", metavar="TIME", help="how long it is valid, such as 90d")
    add_json_flag(create)
    listing = add_command(group, "list", "tenants:list_tokens", "list tokens, without their secrets")
    listing.add_argument(
        "--tenant", metavar="NAME", help='only those of this tenant; "_" is the default tenant'
    )
    add_json_flag(listing)
    revoke = add_command(
        group,
        "revoke",
        "tenants:revoke",
        "revoke a token",
        description="Revoke a token. All nodes reject it within three seconds.",
    )
    revoke.add_argument("id", metavar="ID", help="as the list shows it, or the whole token")


# ---------------------------------------------------------------------------- tenant


TENANT_EXAMPLES = """\
examples:
  bridle tenant add acme --tokens-per-month 5000000 --deny 'web_fetch'
  bridle tenant set acme --cost-per-day 20 --yolo off
  bridle tenant show acme
"""
PERIODS = ("day", "month", "run")


def add_tenant(commands: Commands) -> None:
    """Add the `bridle tenant` commands."""
    group = add_group(commands, "tenant", "manage the tenants of a cluster", epilog=TENANT_EXAMPLES)
    add = add_command(group, "add", "tenants:add", "add a tenant")
    _with_name(add)
    _with_settings(add)
    listing = add_command(group, "list", "tenants:list_tenants", "list the tenants")
    add_json_flag(listing)
    show = add_command(group, "show", "tenants:show", "show the settings and usage of a tenant")
    _with_name(show)
    add_json_flag(show)
    change = add_command(
        group,
        "set",
        "tenants:change",
        "change the settings of a tenant",
        description="Change the settings of a tenant. Others stay as they are; a list replaces the old one.",
    )
    _with_name(change)
    _with_settings(change)
    remove = add_command(
        group,
        "remove",
        "tenants:remove",
        "remove a tenant that has no sessions, and revoke its tokens",
    )
    _with_name(remove)


def add_audit(commands: Commands) -> None:
    """Add `bridle audit`."""
    audit = add_command(
        commands,
        "audit",
        "tenants:audit",
        "show who did what in a cluster",
        description="Show who did what in a cluster, oldest first.",
    )
    audit.add_argument("--tenant", metavar="NAME", help='only this tenant; "_" is the default tenant')
    audit.add_argument("--since", metavar="TIME", help="only the last period, such as 7d or 12h")
    add_json_flag(audit)


def _with_name(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="lowercase letters, digits and dashes")


def _with_settings(parser: Parser) -> None:
    for period in PERIODS:
        what = "one run may use" if period == "run" else f"all its runs may use in a {period}, by UTC"
        parser.add_argument(
            f"--tokens-per-{period}", metavar="N", help=f"tokens that {what}; none for no limit"
        )
        parser.add_argument(
            f"--cost-per-{period}", metavar="DOLLARS", help=f"dollars that {what}; none for no limit"
        )
    for action in ("allow", "ask", "deny"):
        parser.add_argument(
            f"--{action}", metavar="RULE", action="append", help=f"{action} rule of every run (repeatable)"
        )
    parser.add_argument("--yolo", choices=("on", "off"), help="whether its clients may use mode yolo")
    parser.add_argument(
        "--folder", metavar="PATH", action="append", help="where its sessions may work (repeatable)"
    )
    parser.add_argument(
        "--model",
        metavar="PATTERN",
        action="append",
        help="models that its runs may use, such as 'openai/*' (repeatable)",
    )
    parser.add_argument(
        "--clear",
        metavar="LIST",
        action="append",
        choices=("allow", "ask", "deny", "folder", "model"),
        default=[],
        help="empty a list: allow, ask, deny, folder or model (repeatable)",
    )


# ---------------------------------------------------------------------------- scale


EXAMPLES = """\
examples:
  bridle config set store.backend postgres
  bridle config set store.url postgresql://bridle@db/bridle
  bridle worker                      on each machine that runs sessions
  bridle gateway                     where clients connect

The database password goes into BRIDLE_DATABASE_URL. `bridle daemon run` with scale.enabled is both.
"""


def add_worker(commands: Commands) -> None:
    """Add `bridle worker`."""
    worker = add_command(
        commands,
        "worker",
        "scale:run_worker",
        "run sessions of a cluster, in the foreground",
        epilog=EXAMPLES,
    )
    worker.add_argument("--node", metavar="NAME", help="name of this machine (scale.node)")
    worker.add_argument(
        "--listen", metavar="ADDRESS", help="address to listen on for gateways (scale.listen)"
    )
    worker.add_argument(
        "--advertise", metavar="ADDRESS", help="address that others use to reach it (scale.advertise)"
    )
    worker.add_argument(
        "--label", metavar="NAME", action="append", help="labels of this worker (scale.labels)"
    )
    worker.add_argument("--http", metavar="ADDRESS", help="address of /health and /ready (http.bind)")
    worker.add_argument("--runs", metavar="N", help="concurrent sessions (scale.runs)")


def add_gateway(commands: Commands) -> None:
    """Add `bridle gateway`."""
    gateway = add_command(
        commands,
        "gateway",
        "scale:run_gateway",
        "serve the sessions of a cluster to clients, in the foreground",
        epilog=EXAMPLES,
    )
    gateway.add_argument("--http", metavar="ADDRESS", help="address of REST and the page (http.bind)")
    gateway.add_argument("--grpc", metavar="ADDRESS", help="address of gRPC (grpc.bind)")
    gateway.add_argument("--node", metavar="NAME", help="name of this machine (scale.node)")


def add_scale(commands: Commands) -> None:
    """Add the `bridle scale` commands."""
    group = add_group(commands, "scale", "manage a cluster", epilog=EXAMPLES)
    add_json_flag(add_command(group, "status", "scale:show_status", "show workers and queued work"))
    add_command(group, "migrate", "scale:migrate", "update the database tables")
    prune: Parser = add_command(
        group,
        "prune",
        "scale:prune",
        "remove old data",
        description="Remove archived sessions and records of assignments that are old enough.",
    )
    prune.add_argument(
        "--older-than",
        metavar="TIME",
        default="90d",
        help="remove archived sessions older than this (default: 90d)",
    )
    prune.add_argument(
        "--legs",
        metavar="TIME",
        default="7d",
        help="remove records of assignments older than this (default: 7d)",
    )
