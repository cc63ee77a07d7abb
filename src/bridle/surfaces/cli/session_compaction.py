"""`bridle session compact` and `pin`: replace old messages by a summary, and keep texts verbatim."""

import argparse
from collections.abc import Sequence

from msgspec import json

from bridle.core.compaction import check_pin
from bridle.core.errors import SessionError, UsageError
from bridle.core.protocol import Compact, Compacted, CompactionFailed, Pin
from bridle.core.queries import Records, Status
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.session_access import run_with_session
from bridle.surfaces.full_transcript import describe_note
from bridle.surfaces.terminal import Console, one_line, visible
from bridle.surfaces.text_format import short_id


def compact(args: argparse.Namespace, console: Console) -> int:
    """Replace old messages by a summary: now, or before the next turn of an active run."""

    async def change(service: SessionApi, session: SessionSummary) -> None:
        if args.keep:
            check_pin((), args.keep)
        await service.submit(session.id, Compact(args.keep))
        records = await service.ask(Records(session.id, after=session.last_seq))
        ends = [record.event for record in records if isinstance(record.event, Compacted | CompactionFailed)]
        if not ends:
            console.done(f"session {short_id(session.id)} is running: it is compacted before its next turn")
        elif isinstance(ends[-1], CompactionFailed):
            raise SessionError(
                f"session {short_id(session.id)} was not compacted: {ends[-1].error}",
                hint="try it again, or with another model",
            )
        else:
            console.done(f"session {short_id(session.id)} {describe_note(ends[-1])}")

    return run_with_session(args.session, console, change)


def pin(args: argparse.Namespace, console: Console) -> int:
    """Pin a text so that compaction keeps it verbatim, unpin it, or list the pins."""
    if [args.text is not None, args.list, args.remove is not None].count(True) != 1:
        raise UsageError("no text given", hint="bridle session pin SESSION TEXT, --list or --remove TEXT")

    async def change(service: SessionApi, session: SessionSummary) -> None:
        pins = (await service.ask(Status(session.id))).facts.pins
        if args.list:
            _write(console, pins, as_json=args.json)
        elif args.remove is not None:
            text = _found(pins, args.remove)
            await service.submit(session.id, Pin(text, pinned=False))
            console.done(f"session {short_id(session.id)}: no longer pinned: {one_line(text)}")
        else:
            check_pin(pins, args.text)
            await service.submit(session.id, Pin(args.text))
            console.done(f"session {short_id(session.id)}: pinned; the model sees it with your next message")

    return run_with_session(args.session, console, change)


def _found(pins: Sequence[str], wanted: str) -> str:
    """Return the pin that equals `wanted`, or the only one that starts with it; raises UsageError."""
    found = [text for text in pins if text == wanted] or [text for text in pins if text.startswith(wanted)]
    if len(found) == 1 and wanted:
        return found[0]
    problem = (
        f'{len(found)} pinned texts begin with "{one_line(wanted)}"' if found else "no such text is pinned"
    )
    raise UsageError(problem, hint="bridle session pin SESSION --list")


def _write(console: Console, pins: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        console.out.json(json.format(json.encode(pins), indent=2))
        return
    for number, text in enumerate(pins):
        if number and ("\n" in text or "\n" in pins[number - 1]):
            console.out.line()
        for line in text.split("\n"):
            console.out.line(visible(line))
