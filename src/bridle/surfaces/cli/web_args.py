"""Argument definitions of `bridle web`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command

EXAMPLES = """\
examples:
  bridle web                            open the page
  bridle web --print                    only print a link, for another browser
  ssh -L 7417:127.0.0.1:7417 HOST       the page of another machine, with its own bridle web --print

The link works once, within five minutes; the browser that opens it stays logged in for a week.
"""


def add_web(commands: Commands) -> None:
    """Add `bridle web`."""
    web = add_command(commands, "web", "web:web", "open the web page in a browser", epilog=EXAMPLES)
    web.add_argument(
        "--print",
        "--no-open",
        dest="only_print",
        action="store_true",
        help="print the link without opening it",
    )
