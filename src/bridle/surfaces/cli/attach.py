"""`bridle attach`: join a run of the daemon, and leave it again without ending it."""

import argparse
import asyncio
from contextlib import aclosing
from pathlib import Path

from bridle.config.settings import load_settings
from bridle.core.errors import SessionNotRunning
from bridle.core.ids import SessionId
from bridle.core.protocol import Record, Resume, RunEnded, RunStarted
from bridle.core.queries import IsRunning, Records
from bridle.core.session_api import SessionApi
from bridle.surfaces.cli.approver import Approver, open_approver
from bridle.surfaces.cli.output.run_view import RunView
from bridle.surfaces.cli.run import report
from bridle.surfaces.cli.run_follower import Follower
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import find_session
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.launcher import connect_if_running
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.terminal import Console
from bridle.surfaces.shared.text_format import short_id


def attach(args: argparse.Namespace, console: Console) -> int:
    """Follow a session's run until it ends or the user leaves."""
    approver = open_approver(console.environ)
    try:
        result = asyncio.run(_join(args, console, approver))
    finally:
        if approver is not None:
            approver.close()
    if result is None:
        console.err.line(f"detached; the run continues (reattach: bridle attach {args.session})")
        return 0
    report(console, result)
    return result.exit_code


async def _join(args: argparse.Namespace, console: Console, approver: Approver | None) -> Result | None:
    async with open_configured_store(console) as store:
        found = find_session(await store.list(archived=True), args.session)
    view = RunView(console, answer="streamed", chatty=True, verbose=args.verbose)
    if args.resume:
        async with open_sessions(console, found.cwd) as api:
            follower = Follower(api, found.id, view, approver)
            if api.is_remote:
                return await follower.take_up(found.last_seq)
            return await follower.run(Resume(), found.last_seq)
    # Use the daemon whatever this directory's settings say: a run can be joined only where it runs.
    daemon = await connect_if_running(DaemonFiles(load_settings(console.environ, Path("/")).home))
    async with open_sessions(console) if daemon is None else aclosing(daemon) as api:
        status = await daemon.status() if daemon is not None else None
        live = status.sessions if status is not None else ()
        is_elsewhere = status is not None and status.is_node
        begun = await _active_run(api, found.id)
        if not is_elsewhere and all(one.id != found.id or one.state == "idle" for one in live):
            raise SessionNotRunning(
                f"session {short_id(found.id)} is running outside the daemon",
                hint="attach needs a run in the daemon: bridle daemon start, before the run",
            )
        event = begun.event
        assert isinstance(event, RunStarted)
        return await Follower(api, found.id, view, approver).join(event.run_id, begun.seq - 1)


async def _active_run(api: SessionApi, session: SessionId) -> Record:
    """Return the record that started the active run; raises SessionNotRunning if there is none."""
    records = await api.ask(Records(session))
    begun = next((record for record in reversed(records) if isinstance(record.event, RunStarted)), None)
    is_over = begun is None or any(isinstance(record.event, RunEnded) for record in records[begun.seq :])
    if begun is None or is_over:
        raise SessionNotRunning(
            f"session {short_id(session)} has no active run",
            hint=f'start one: bridle run --session {short_id(session)} "…"',
        )
    if not await api.ask(IsRunning(session)):
        raise SessionNotRunning(
            f"the run of session {short_id(session)} was interrupted: its process ended",
            hint=f"resume it: bridle attach {short_id(session)} --resume",
        )
    return begun
