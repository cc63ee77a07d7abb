"""The words of `bridle import`; nothing is done here."""

from bridle.surfaces.cli.words import Commands, add_command, add_group, with_json

EXAMPLES = """\
examples:
  bridle import kontekst ~/.kontekst --dry-run
  bridle import kontekst ~/.kontekst

What is there already is left as it is: it can be run again. To go on with an installation of
Kontekst as it is, without copying anything: bridle daemon run --config ~/.kontekst/config.toml
"""


def add_import(commands: Commands) -> None:
    """Add the commands that bring things in."""
    group = add_group(commands, "import", "bring in what other programs have kept")
    kontekst = add_command(
        group,
        "kontekst",
        "importing:import_kontekst",
        "bring in the agents, skills and sessions of Kontekst",
        epilog=EXAMPLES,
    )
    kontekst.add_argument("folder", metavar="DIR", help="its data directory, usually ~/.kontekst")
    kontekst.add_argument(
        "--cwd", metavar="DIR", help="where its sessions go on (default: the working directory)"
    )
    kontekst.add_argument(
        "--dry-run", action="store_true", help="show what would be brought in, and change nothing"
    )
    with_json(kontekst)
