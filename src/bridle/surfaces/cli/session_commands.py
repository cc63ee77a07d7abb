"""`bridle session steer`, `queue`, `decide` and `cancel`: send a command to a run of the daemon."""

import argparse

from bridle.core.errors import SessionNotRunning, UsageError
from bridle.core.ids import CallId
from bridle.core.messages import user_message
from bridle.core.protocol import ApprovalRequested, Cancel, Command, Decide, Prompt, Steer
from bridle.core.queries import Status
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.session_status import RunStatus
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.session_access import run_with_session
from bridle.surfaces.terminal import Console
from bridle.surfaces.text_format import describe_args, short_id


def steer(args: argparse.Namespace, console: Console) -> int:
    """Add a message to the active run."""
    return _send(args, console, Steer(user_message(_text(args))), "sent; the run reads it at its next turn")


def queue(args: argparse.Namespace, console: Console) -> int:
    """Queue a prompt until the active run ends."""

    async def work(api: SessionApi, session: SessionSummary) -> None:
        receipt = await _submit(api, session, Prompt(user_message(_text(args))))
        console.done("the run has started" if receipt.run_id else "queued; it starts when the run ends")

    return run_with_session(args.session, console, work)


def cancel(args: argparse.Namespace, console: Console) -> int:
    """Cancel the active run."""
    return _send(args, console, Cancel("cancelled by the user"), "the run is stopping")


def decide(args: argparse.Namespace, console: Console) -> int:
    """Answer an approval that a run waits for."""

    async def work(api: SessionApi, session: SessionSummary) -> None:
        asked = _pending((await api.ask(Status(session.id))).run, args.call)
        await _submit(api, session, Decide(asked.call_id, args.answer, args.reason))
        console.done(f"{args.answer}: {asked.tool} {describe_args(asked.args)}".rstrip())

    return run_with_session(args.session, console, work)


def _send(args: argparse.Namespace, console: Console, command: Command, done: str) -> int:
    async def work(api: SessionApi, session: SessionSummary) -> None:
        await _submit(api, session, command)
        console.done(f"session {short_id(session.id)}: {done}")

    return run_with_session(args.session, console, work)


async def _submit(api: SessionApi, session: SessionSummary, command: Command) -> Receipt:
    if not api.is_remote:
        raise SessionNotRunning(
            "the daemon is not running, and only its runs can be reached from here",
            hint="bridle daemon start",
        )
    return await api.submit(session.id, command)


def _pending(run: RunStatus | None, call_id: str | None) -> ApprovalRequested:
    """Return the pending approval that is meant; raises UsageError if there is none or more than one."""
    pending = run.approvals if run is not None else ()
    meant = [asked for asked in pending if call_id is None or asked.call_id == CallId(call_id)]
    if not meant:
        what = "no call" if call_id is None else f'no call "{call_id}"'
        raise UsageError(f"{what} of this session waits for an answer")
    if len(meant) > 1:
        names = ", ".join(f"{asked.call_id} ({asked.tool})" for asked in meant)
        raise UsageError(f"several calls wait: {names}", hint="choose one with --call")
    return meant[0]


def _text(args: argparse.Namespace) -> str:
    text: str = " ".join(args.text).strip()
    if not text:
        raise UsageError("the message is empty")
    return text
