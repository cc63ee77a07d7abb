"""Argument definitions of `bridle tenant` and `bridle audit`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_json_flag

EXAMPLES = """\
examples:
  bridle tenant add acme --tokens-per-month 5000000 --deny 'web_fetch'
  bridle tenant set acme --cost-per-day 20 --yolo off
  bridle tenant show acme
"""
PERIODS = ("day", "month", "run")


def add_tenant(commands: Commands) -> None:
    """Add the `bridle tenant` commands."""
    group = add_group(commands, "tenant", "manage the tenants of a cluster", epilog=EXAMPLES)
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
