"""Argument definitions of `bridle worker`, `bridle gateway` and `bridle scale`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_json_flag

EXAMPLES = """\
examples:
  bridle config set store.backend postgres
  bridle config set store.url postgresql://bridle@db/bridle
  bridle worker                      on every machine that runs sessions
  bridle gateway                     where clients come to

The password of the database comes in BRIDLE_DATABASE_URL. `bridle daemon run` with scale.enabled is both.
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
    worker.add_argument("--node", metavar="NAME", help="what this machine is called (scale.node)")
    worker.add_argument("--listen", metavar="ADDRESS", help="where gateways reach it (scale.listen)")
    worker.add_argument("--advertise", metavar="ADDRESS", help="how others reach it (scale.advertise)")
    worker.add_argument("--label", metavar="NAME", action="append", help="what it has (scale.labels)")
    worker.add_argument("--http", metavar="ADDRESS", help="where /health and /ready are (http.bind)")
    worker.add_argument("--runs", metavar="N", help="sessions at the same time (scale.runs)")


def add_gateway(commands: Commands) -> None:
    """Add `bridle gateway`."""
    gateway = add_command(
        commands,
        "gateway",
        "scale:run_gateway",
        "serve the sessions of a cluster to clients, in the foreground",
        epilog=EXAMPLES,
    )
    gateway.add_argument("--http", metavar="ADDRESS", help="where REST and the page are (http.bind)")
    gateway.add_argument("--grpc", metavar="ADDRESS", help="where gRPC is (grpc.bind)")
    gateway.add_argument("--node", metavar="NAME", help="what this machine is called (scale.node)")


def add_scale(commands: Commands) -> None:
    """Add the `bridle scale` commands."""
    group = add_group(commands, "scale", "manage a cluster", epilog=EXAMPLES)
    add_json_flag(add_command(group, "status", "scale:show_status", "show who works, and how much waits"))
    add_command(group, "migrate", "scale:migrate", "bring the tables of the database up to date")
    prune: Parser = add_command(
        group,
        "prune",
        "scale:prune",
        "remove what is not needed any more",
        description="Remove archived sessions untouched for long, and what is known of old legs.",
    )
    prune.add_argument(
        "--older-than", metavar="TIME", default="90d", help="archived sessions untouched for so long (90d)"
    )
    prune.add_argument("--legs", metavar="TIME", default="7d", help="legs that ended before (7d)")
