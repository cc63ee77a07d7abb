"""`bridle session verify` and `fsck`: check stored sessions for edits and damage."""

import argparse
import asyncio
from typing import cast

from bridle.app import open_blobs, revisions_dir
from bridle.stores.blob_check import MIN_AGE_S, BlobCheck, PrunableBlobs, prune_blobs
from bridle.stores.blobs import FileBlobs
from bridle.stores.integrity import SessionCheck
from bridle.stores.integrity import fsck as fsck_store
from bridle.stores.integrity import verify as verify_session
from bridle.stores.record_lines import REPAIRABLE, Flaw, LineStore
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_lookup import find_id, load_settings_here
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.shared.terminal import Console, one_line
from bridle.surfaces.shared.text_format import format_count

SHARED_AGE_S = 7 * 86_400.0


def verify(args: argparse.Namespace, console: Console) -> int:
    """Check the hash chain and the blobs of one session or of all; exit code 1 if any fails."""
    verdicts = asyncio.run(_verify(args.session, console))
    if args.json:
        print_json(console.out, verdicts)
    else:
        for verdict in verdicts:
            _write_verdict(console, verdict)
    broken = [verdict for verdict in verdicts if not verdict.ok]
    if broken:
        console.fail(f"{format_count(len(broken), 'session')} of {len(verdicts)} modified since recorded")
    return 1 if broken else 0


def fsck(args: argparse.Namespace, console: Console) -> int:
    """List every problem in the store; exit code 0 if none is left unrepaired."""
    flaws = asyncio.run(_fsck(console, repair=args.repair))
    if args.json:
        print_json(console.out, flaws)
    else:
        for flaw in flaws:
            _write_flaw(console, flaw)
        if not flaws:
            console.out.line(console.out.paint("done", "no problems found"))
    if args.repair and (removed := asyncio.run(_prune(console))):
        console.done(f"{format_count(removed, 'unused file content')} removed")
    left = [flaw for flaw in flaws if not flaw.repaired]
    if left:
        mends = not args.repair and any(flaw.kind in REPAIRABLE for flaw in left)
        console.fail(
            f"{format_count(len(left), 'problem')} left", "bridle session fsck --repair" if mends else ""
        )
    return 1 if left else 0


async def _verify(wanted: str | None, console: Console) -> list[SessionCheck]:
    async with open_configured_store(console) as store:
        lines = cast(LineStore, store)  # all built-in stores expose their lines
        ids = await lines.ids()
        chosen = ids if wanted is None else [find_id(dict.fromkeys(ids, ""), wanted)]
        blobs = _blob_check(console)
        return [await verify_session(lines, session, blobs) for session in chosen]


async def _fsck(console: Console, *, repair: bool) -> list[Flaw]:
    async with open_configured_store(console) as store:
        return await fsck_store(cast(LineStore, store), _blob_check(console), repair=repair)


def _blob_check(console: Console) -> BlobCheck:
    return BlobCheck(open_blobs(load_settings_here(console)))


async def _prune(console: Console) -> int:
    settings = load_settings_here(console)
    blobs = open_blobs(settings)
    if not isinstance(blobs, PrunableBlobs):
        return 0
    # Blobs that the revisions of other machines need are not visible from here, hence the longer age.
    older_than_s = MIN_AGE_S if isinstance(blobs, FileBlobs) else SHARED_AGE_S
    async with open_configured_store(console) as store:
        return await prune_blobs(cast(LineStore, store), blobs, revisions_dir(settings), older_than_s)


def _write_verdict(console: Console, verdict: SessionCheck) -> None:
    out = console.out
    if verdict.ok:
        state = f"{out.paint('done', 'ok')}      {format_count(verdict.records, 'event')}"
    else:
        blobs = f"{format_count(len(verdict.blobs), 'blob')} damaged"
        state = f"{out.paint('failed', 'broken')}  {_describe(verdict.flaw) if verdict.flaw else blobs}"
    out.line(f"{out.paint('name', verdict.session)}  {state}")
    for flaw in verdict.blobs:
        out.line(f"  {_describe(flaw)}")


def _write_flaw(console: Console, flaw: Flaw) -> None:
    out = console.out
    state = out.paint("done", "repaired") if flaw.repaired else out.paint("failed", "broken  ")
    out.line(f"{state}  {out.paint('name', flaw.session or 'store')}  {_describe(flaw)}")


def _describe(flaw: Flaw) -> str:
    where = "" if flaw.seq is None else f"event {flaw.seq}: "
    return one_line(f"{where}{flaw.text}")
