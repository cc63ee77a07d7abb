"""`bridle session fork`, `rename`, `archive` and `delete`: changes go through the session's own door."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable

from bridle.core.errors import UsageError
from bridle.core.protocol import Archive, Rename
from bridle.core.session import SessionSummary
from bridle.sessions.service import SessionService
from bridle.surfaces.cli.find import find_session
from bridle.surfaces.cli.serving import serving
from bridle.surfaces.render import short_id
from bridle.surfaces.terminal import Console, one_line

Change = Callable[[SessionService, SessionSummary], Awaitable[None]]


def fork(args: argparse.Namespace, console: Console) -> int:
    """Begin a child session and print its id."""

    async def change(service: SessionService, session: SessionSummary) -> None:
        console.out.line(await service.fork(session.id, args.at))

    return _change(args, console, change)


def rename(args: argparse.Namespace, console: Console) -> int:
    """Give a session a title."""
    title = " ".join(args.title.split())
    if not title:
        raise UsageError("the title is empty")

    async def change(service: SessionService, session: SessionSummary) -> None:
        await service.submit(session.id, Rename(title))
        console.done(f"session {short_id(session.id)} is now called {title}")

    return _change(args, console, change)


def archive(args: argparse.Namespace, console: Console) -> int:
    """Put a session away, or bring it back."""

    async def change(service: SessionService, session: SessionSummary) -> None:
        await service.submit(session.id, Archive(archived=not args.undo))
        console.done(f"session {short_id(session.id)} is {'back' if args.undo else 'archived'}")

    return _change(args, console, change)


def delete(args: argparse.Namespace, console: Console) -> int:
    """Remove a session for good, after asking."""

    async def change(service: SessionService, session: SessionSummary) -> None:
        if not args.yes and not _confirmed(console, session):
            console.err.line("nothing was deleted")
            return
        await service.delete(session.id)
        console.done(f"session {short_id(session.id)} is deleted")

    return _change(args, console, change)


def _change(args: argparse.Namespace, console: Console, change: Change) -> int:
    asyncio.run(_open_and_change(args.session, console, change))
    return 0


async def _open_and_change(wanted: str, console: Console, change: Change) -> None:
    async with serving(console) as service:
        await change(service, find_session(await service.list(archived=True), wanted))


def _confirmed(console: Console, session: SessionSummary) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("deleting needs a yes", hint=f"bridle session delete {session.id} --yes")
    console.err.write(f'delete "{one_line(session.title)}" ({session.id}) for good? [y/N] ')
    console.err.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
