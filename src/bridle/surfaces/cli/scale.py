"""`bridle worker`, `bridle gateway` and `bridle scale`: run and manage a cluster of machines."""

import argparse
import asyncio
import logging
import time
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, json

from bridle.app.postgres import database_url, open_postgres
from bridle.config.duration import parse_duration
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError
from bridle.surfaces.cli.output.data import write_table
from bridle.surfaces.cli.output.log import stderr_handler
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.shared.terminal import Console
from bridle.surfaces.shared.text_format import format_count

LOG_FORMAT = "%(asctime)s %(levelname)-7s %(message)s"


class MemberView(Struct, frozen=True):
    """A process of the cluster, in `scale status --json`."""

    id: str
    node: str
    role: str
    address: str
    labels: tuple[str, ...]
    version: str
    draining: bool
    silent_s: float
    sessions: int


class ClusterView(Struct, frozen=True):
    """The output of `scale status --json`."""

    database: str
    members: list[MemberView]
    legs: dict[str, int]


def run_worker(args: argparse.Namespace, console: Console) -> int:
    """Run a worker in the foreground."""
    from bridle.surfaces.daemon.forced_exit import exit_after
    from bridle.surfaces.daemon.worker import Worker

    flags = {
        "scale.node": args.node,
        "scale.listen": args.listen,
        "scale.advertise": args.advertise,
        "scale.labels": tuple(args.label) if args.label else None,
        "scale.runs": args.runs,
        "http.bind": args.http,
    }
    settings = _settings(console, flags)
    _log()

    async def work() -> int:
        status = await Worker(settings, console.environ).run()
        exit_after(status)
        return status

    return asyncio.run(work())


def run_gateway(args: argparse.Namespace, console: Console) -> int:
    """Run a gateway in the foreground."""
    from bridle.surfaces.daemon.forced_exit import exit_after
    from bridle.surfaces.daemon.process import Daemon

    flags = {"http.bind": args.http, "grpc.bind": args.grpc, "scale.node": args.node}
    settings = _settings(console, flags)
    _log()

    async def serve() -> int:
        status = await Daemon(settings, console.environ, is_gateway=True).run()
        exit_after(status)
        return status

    return asyncio.run(serve())


def show_status(args: argparse.Namespace, console: Console) -> int:
    """Show the cluster's processes, and how many jobs run and wait."""
    view = asyncio.run(_read_cluster(_settings(console)))
    if args.json:
        console.out.json(json.encode(view))
        return 0
    console.out.line(f"{view.database}: {view.legs['running']} running, {view.legs['waiting']} waiting")
    if not view.members:
        console.err.line("no workers")
        console.hint("start a worker: bridle worker")
        return 0
    rows = [
        (
            one.node,
            one.role + (" (stopping)" if one.draining else ""),
            format_count(one.sessions, "session"),
            " ".join(label or "any" for label in one.labels),
            one.address,
            one.version,
            f"{one.silent_s:.0f}s ago",
        )
        for one in view.members
    ]
    write_table(console.out, ("machine", "role", "holds", "labels", "address", "version", "seen"), rows)
    return 0


async def _read_cluster(settings: Settings) -> ClusterView:
    from bridle.scale.durable import JobQueue
    from bridle.scale.members import list_living

    postgres = open_postgres(settings, size=2)
    dispatch = JobQueue(database_url(settings))
    try:
        await postgres.open()
        held = await postgres.rows("SELECT owner, count(*) FROM bridle.sessions WHERE owner <> '' GROUP BY 1")
        holds: dict[str, int] = dict(held)
        await dispatch.open()
        return ClusterView(
            postgres.name,
            [
                MemberView(
                    one.id,
                    one.node,
                    "worker" if one.address else "gateway",
                    one.address,
                    one.labels,
                    one.version,
                    one.draining,
                    one.silent_s,
                    holds.get(one.id, 0),
                )
                for one in await list_living(postgres)
            ],
            await dispatch.counts(),
        )
    finally:
        await dispatch.aclose()
        await postgres.aclose()


def migrate(args: argparse.Namespace, console: Console) -> int:
    """Bring the database schema up to date."""
    from bridle.scale.durable import migrate as migrate_engine
    from bridle.stores.postgres.migrations import migrate as migrate_tables

    settings = _settings(console)

    async def change() -> list[str]:
        postgres = open_postgres(settings, size=1)
        try:
            done = await migrate_tables(postgres)
            await migrate_engine(database_url(settings))
            return done
        finally:
            await postgres.aclose()

    for line in asyncio.run(change()):
        console.out.line(line)
    console.done("the tables are up to date")
    return 0


def prune(args: argparse.Namespace, console: Console) -> int:
    """Remove old archived sessions and the records of old jobs."""
    from bridle.scale.durable import JobQueue
    from bridle.stores.postgres.retention import prune_archived

    settings = _settings(console)
    now_s = time.time()
    sessions_before_ms = int((now_s - parse_duration(args.older_than)) * 1000)
    assigned_before = datetime.fromtimestamp(now_s - parse_duration(args.legs), UTC).isoformat()

    async def remove() -> tuple[int, int]:
        postgres = open_postgres(settings, size=2)
        dispatch = JobQueue(database_url(settings))
        try:
            await postgres.open()
            sessions = await prune_archived(postgres, before_ms=sessions_before_ms)
            await dispatch.open()
            return sessions, await dispatch.forget(assigned_before)
        finally:
            await dispatch.aclose()
            await postgres.aclose()

    sessions, assignments = asyncio.run(remove())
    removed = [format_count(sessions, "archived session"), format_count(assignments, "old assignment")]
    console.done(f"removed {' and '.join(removed)}")
    return 0


def _settings(console: Console, flags: dict[str, object] | None = None) -> Settings:
    settings = load_settings(console.environ, Path(resolve_directory()), flags or {})
    if settings.store.backend != "postgres":
        raise ConfigError(
            f"a cluster needs PostgreSQL, but store.backend is {settings.store.backend}",
            hint="bridle config set store.backend postgres",
        )
    return settings


def _log() -> None:
    logging.basicConfig(level=logging.INFO, handlers=[stderr_handler(LOG_FORMAT)], force=True)
    logging.getLogger("dbos").setLevel(logging.ERROR)
