"""`bridle session export`: export a session as a document or as a folder of files."""

import argparse
import asyncio
from pathlib import Path

from bridle.core.errors import BridleError, UsageError
from bridle.core.protocol import Record
from bridle.stores.projector import SessionProjector
from bridle.surfaces.cli.session_lookup import find_session
from bridle.surfaces.cli.store_access import list_readable_sessions, open_configured_store
from bridle.surfaces.export import FORMATS
from bridle.surfaces.terminal import Console


def export(args: argparse.Namespace, console: Console) -> int:
    """Write a session to a file, a folder or stdout."""
    if args.format == "files":
        return asyncio.run(_project(console, args.session, args.out))
    text = FORMATS[args.format](asyncio.run(_read(console, args.session)))
    if args.out is None:
        console.out.data(text)
        return 0
    try:
        Path(args.out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BridleError(f"{args.out} cannot be written: {error.strerror}") from error
    console.done(f"wrote {args.out}")
    return 0


async def _project(console: Console, wanted: str, out: str | None) -> int:
    """Bring a folder of derived files up to date with a session."""
    if out is None:
        raise UsageError("--format files needs a folder to write into", hint="add -o DIR")
    async with open_configured_store(console) as store:
        summary = find_session(await list_readable_sessions(store, console), wanted)
        await SessionProjector(store, Path(out)).project(summary.id)
    console.done(f"wrote {Path(out) / summary.id}")
    return 0


async def _read(console: Console, wanted: str) -> list[Record]:
    async with open_configured_store(console) as store:
        summary = find_session(await list_readable_sessions(store, console), wanted)
        return await store.read(summary.id)
