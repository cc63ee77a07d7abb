"""Argument definitions of `bridle worker`, `bridle gateway` and `bridle scale`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_json_flag

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
