"""`bridle attach`: join a run that somebody else has started, and leave it again without ending it."""

import argparse
import asyncio

from bridle.core.door import Door
from bridle.core.errors import SessionNotRunning
from bridle.core.ids import SessionId
from bridle.core.protocol import Record, Resume, RunEnded, RunStarted
from bridle.surfaces.cli.approve import Approver, open_approver
from bridle.surfaces.cli.find import find_session
from bridle.surfaces.cli.follow import Follower
from bridle.surfaces.cli.run import report
from bridle.surfaces.cli.serving import serving
from bridle.surfaces.live import TextView
from bridle.surfaces.render import short_id
from bridle.surfaces.terminal import Console
from bridle.surfaces.wire import Result


def attach(args: argparse.Namespace, console: Console) -> int:
    """Follow the run of a session until its end, or until the user leaves."""
    approver = open_approver(console.environ)
    try:
        result = asyncio.run(_join(args, console, approver))
    finally:
        if approver is not None:
            approver.close()
    if result is None:
        console.err.line(f"left; the run goes on (bridle attach {args.session} comes back)")
        return 0
    report(console, result)
    return result.exit_code


async def _join(args: argparse.Namespace, console: Console, approver: Approver | None) -> Result | None:
    async with serving(console) as door:
        found = find_session(await door.list(archived=True), args.session)
        view = TextView(console, answer="streamed", chatty=True, verbose=args.verbose)
        follower = Follower(door, found.id, view, approver)
        if args.resume:
            return await follower.run(Resume(), found.last_seq)
        begun = await _active_run(door, found.id)
        event = begun.event
        assert isinstance(event, RunStarted)
        return await follower.join(event.run_id, begun.seq - 1)


async def _active_run(door: Door, session: SessionId) -> Record:
    """Return the record that began the run; raises SessionNotRunning when none is active."""
    records = await door.records(session)
    begun = next((record for record in reversed(records) if isinstance(record.event, RunStarted)), None)
    is_over = begun is None or any(isinstance(record.event, RunEnded) for record in records[begun.seq :])
    if begun is None or is_over:
        raise SessionNotRunning(
            f"session {short_id(session)} has no active run",
            hint=f'bridle run --session {short_id(session)} "…" begins one',
        )
    if not await door.is_running(session):
        raise SessionNotRunning(
            f"the run of session {short_id(session)} was cut off: the process that ran it has ended",
            hint=f"bridle attach {short_id(session)} --resume goes on with it",
        )
    return begun
