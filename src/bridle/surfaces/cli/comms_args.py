"""Argument definitions of `bridle comms`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command, add_group, add_json_flag, add_rule_flags

EXAMPLES = """\
examples:
  bridle comms id                                what your peers need to trust you
  bridle comms trust builder ed25519:… tcp://127.0.0.1:4200
  bridle comms send builder "the tests are red"
  bridle comms listen --allow 'peer_respond(builder)'
"""


def add_comms(commands: Commands) -> None:
    """Add the `bridle comms` commands."""
    group = add_group(commands, "comms", "exchange signed messages between agents", epilog=EXAMPLES)
    who = add_command(
        group,
        "id",
        "comms:show_id",
        "print your peer id and address",
        description="Print your peer id and address in the form that `bridle comms trust` takes.",
    )
    add_json_flag(who)
    trust = add_command(group, "trust", "comms:trust", "trust a peer")
    trust.add_argument("name", metavar="NAME", help="your name for the peer: letters, digits, - and _")
    trust.add_argument("peer_id", metavar="PEER_ID", help="ed25519:…, printed there by `bridle comms id`")
    trust.add_argument("address", metavar="ADDRESS", help="uds:///path or tcp://host:port")
    untrust = add_command(group, "untrust", "comms:untrust", "stop trusting a peer")
    untrust.add_argument("name", metavar="NAME", help="your name for the peer")
    add_json_flag(add_command(group, "peers", "comms:list_peers", "list the peers you trust"))
    send = add_command(group, "send", "comms:send", "send a message and wait for delivery")
    send.add_argument("name", metavar="NAME", help="your name for the peer")
    send.add_argument("text", metavar="TEXT", nargs="+", help="the message; several words are joined")
    _add_listen(group)


def _add_listen(group: Commands) -> None:
    listen = add_command(
        group,
        "listen",
        "comms:listen",
        "let an agent answer messages from peers",
        description=(
            "Let an agent answer peers: each message is printed and becomes a prompt, in a session"
            " for each peer. The message DISMISS, the limit or Ctrl-C ends it."
        ),
    )
    listen.add_argument("--session", metavar="ID", help="use this session for all peers")
    listen.add_argument("--agent", metavar="NAME", help="the agent of new sessions (default: default)")
    listen.add_argument("--model", metavar="PROVIDER/MODEL", help="use this model instead of the agent's")
    listen.add_argument(
        "--limit", metavar="N", type=int, default=100, help="stop after this many deliveries (default: 100)"
    )
    listen.add_argument("--no-run", action="store_true", help="only print messages")
    add_rule_flags(listen.add_argument_group("permissions"))
