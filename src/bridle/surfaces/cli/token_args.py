"""Argument definitions of `bridle token`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command, add_group, add_json_flag

EXAMPLES = """\
examples:
  bridle token create --tenant acme --user ann --scope read --scope run --expires 90d
  bridle token list --tenant acme
  bridle token revoke 5f1c0a9be2d47703
"""


def add_token(commands: Commands) -> None:
    """Add the `bridle token` commands."""
    group = add_group(commands, "token", "create and revoke API tokens of a cluster", epilog=EXAMPLES)
    create = add_command(
        group,
        "create",
        "tokens:create",
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
    listing = add_command(group, "list", "tokens:list_tokens", "list tokens, without their secrets")
    listing.add_argument(
        "--tenant", metavar="NAME", help='only those of this tenant; "_" is the default tenant'
    )
    add_json_flag(listing)
    revoke = add_command(
        group,
        "revoke",
        "tokens:revoke",
        "revoke a token",
        description="Revoke a token. All nodes reject it within three seconds.",
    )
    revoke.add_argument("id", metavar="ID", help="as the list shows it, or the whole token")
