"""`bridle session fork`, `rename`, `archive` and `delete`: changes go through the session API."""

import argparse

from bridle.core.errors import UsageError
from bridle.core.protocol import Archive, Delete, Rename
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.confirm import ask_confirmation
from bridle.surfaces.cli.session_access import run_with_session
from bridle.surfaces.session_calls import fork_session
from bridle.surfaces.terminal import Console, one_line
from bridle.surfaces.text_format import short_id


def fork(args: argparse.Namespace, console: Console) -> int:
    """Fork a session and print the id of the new one."""

    async def change(service: SessionApi, session: SessionSummary) -> None:
        console.out.line(await fork_session(service, session.id, args.at))

    return run_with_session(args.session, console, change)


def rename(args: argparse.Namespace, console: Console) -> int:
    """Set a session's title."""
    title = " ".join(args.title.split())
    if not title:
        raise UsageError("the title is empty")

    async def change(service: SessionApi, session: SessionSummary) -> None:
        await service.submit(session.id, Rename(title))
        console.done(f"session {short_id(session.id)} renamed to {title}")

    return run_with_session(args.session, console, change)


def archive(args: argparse.Namespace, console: Console) -> int:
    """Archive a session, or unarchive it with `--undo`."""

    async def change(service: SessionApi, session: SessionSummary) -> None:
        await service.submit(session.id, Archive(archived=not args.undo))
        console.done(f"session {short_id(session.id)} is {'restored' if args.undo else 'archived'}")

    return run_with_session(args.session, console, change)


def delete(args: argparse.Namespace, console: Console) -> int:
    """Delete a session permanently, after confirmation."""

    async def change(service: SessionApi, session: SessionSummary) -> None:
        question = f'permanently delete "{one_line(session.title)}" ({session.id})?'
        hint = f"bridle session delete {session.id} --yes"
        if not args.yes and not ask_confirmation(
            console, question, without="deleting needs confirmation", hint=hint
        ):
            console.err.line("nothing was deleted")
            return
        await service.submit(session.id, Delete())
        console.done(f"session {short_id(session.id)} is deleted")

    return run_with_session(args.session, console, change)
