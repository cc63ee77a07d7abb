"""Argument definitions of `bridle import`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_json_flag

KINDS = ("session", "rule", "server", "skill", "agent", "hook")

EXAMPLES = """\
examples:
  bridle import kontekst ~/.kontekst --dry-run
  bridle import kontekst ~/.kontekst

Existing items are left alone, so it can be run again. To use an existing installation of
Kontekst without copying anything: bridle daemon run --config ~/.kontekst/config.toml
"""

FROM_OTHERS = """\
examples:
  bridle import {0} --dry-run
  bridle import {0} --only session
  bridle import {0} --yes

Nothing of {1} is changed, and nothing here is overwritten. It can be run again: items imported
before are skipped. Keys and tokens are not copied; you are told which variables to set.
"""


def add_import(commands: Commands) -> None:
    """Add the `bridle import` commands."""
    group = add_group(commands, "import", "import sessions and settings from other programs")
    for name, title, brought, folder in (
        (
            "claude",
            "Claude Code",
            "sessions, rules, MCP servers, commands, agents and hooks",
            "its folder (default: ~/.claude)",
        ),
        (
            "codex",
            "the Codex CLI",
            "sessions, rules, MCP servers, prompts, skills and agents",
            "its folder (default: ~/.codex)",
        ),
        (
            "crush",
            "Crush",
            "sessions, rules, MCP servers and skills",
            "a project it worked in (default: the working directory)",
        ),
    ):
        program = add_command(
            group,
            name,
            f"import_others:import_{name}",
            f"import the {brought} of {title}",
            epilog=FROM_OTHERS.format(name, title),
        )
        program.add_argument("folder", metavar="DIR", nargs="?", help=folder)
        program.add_argument(
            "--only",
            metavar="KIND",
            action="append",
            choices=KINDS,
            help=f"import only {', '.join(KINDS)} (repeatable)",
        )
        _add_flags(
            program, "working directory of the sessions (default: the original one, if it still exists)"
        )
        program.add_argument("--yes", "-y", action="store_true", help="write without asking")
    kontekst = add_command(
        group,
        "kontekst",
        "import_kontekst:import_kontekst",
        "import the agents, skills and sessions of Kontekst",
        epilog=EXAMPLES,
    )
    kontekst.add_argument("folder", metavar="DIR", help="its data directory, usually ~/.kontekst")
    _add_flags(kontekst, "working directory of the sessions (default: the current one)")


def _add_flags(parser: Parser, where: str) -> None:
    parser.add_argument("--cwd", metavar="DIR", help=where)
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be imported, and change nothing"
    )
    add_json_flag(parser)
