"""Argument definitions of `bridle rpc` and `bridle acp`, which other programs start; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command

RPC_EXAMPLES = """\
examples:
  bridle rpc                            requests on stdin, answers and events on stdout
  bridle rpc --listen unix:/tmp/b.sock  the same for every connection to a socket
  MEERKAT_BIN_PATH=$(which bridle-rpc) python your_script_with_meerkat_sdk.py
"""


def add_rpc(commands: Commands) -> None:
    """Add `bridle rpc`."""
    rpc = add_command(
        commands, "rpc", "rpc:rpc", "serve JSON-RPC to the program that starts it", epilog=RPC_EXAMPLES
    )
    rpc.add_argument(
        "--contract",
        metavar="VERSION",
        default="0.5.2",
        help="the version of Meerkat's contract (default: 0.5.2)",
    )
    rpc.add_argument("--listen", metavar="unix:PATH", help="accept connections there instead of stdin")
    rpc.add_argument("--cwd", metavar="DIR", help="default working directory of sessions")


def add_acp(commands: Commands) -> None:
    """Add `bridle acp`."""
    add_command(
        commands,
        "acp",
        "acp:acp",
        "serve editors over ACP (Agent Client Protocol)",
        epilog="An editor starts it and talks to it over stdin and stdout: add it there as a custom agent.",
    )
