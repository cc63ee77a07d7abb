"""Commands of `bridle session` for one session: steer, cancel, rename, export, compact and more."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bridle.core.compaction import check_pin
from bridle.core.errors import BridleError, SessionError, SessionNotRunning, UsageError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text
from bridle.core.protocol import (
    ApprovalRequested,
    Archive,
    Cancel,
    Command,
    Compact,
    Compacted,
    CompactionFailed,
    Configure,
    Decide,
    Delete,
    Label,
    Pin,
    Prompt,
    Push,
    Record,
    Rename,
    SessionOptions,
    Steer,
)
from bridle.core.queries import Records, Status
from bridle.core.session_api import Receipt, SessionApi
from bridle.core.session_status import RunStatus
from bridle.core.summary import SessionSummary
from bridle.stores.projector import SessionProjector
from bridle.surfaces.cli.confirm import ask_confirmation
from bridle.surfaces.cli.options import parse_labels, resolve_options, session_options
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_access import run_with_session
from bridle.surfaces.cli.session_lookup import find_session
from bridle.surfaces.cli.store_access import list_readable_sessions, open_configured_store
from bridle.surfaces.shared.export import FORMATS
from bridle.surfaces.shared.full_transcript import describe_note
from bridle.surfaces.shared.session_calls import fork_session
from bridle.surfaces.shared.terminal import Console, one_line, visible
from bridle.surfaces.shared.text_format import describe_args, short_id

# ---------------------------------------------------------------------------- session compaction
# `bridle session compact` and `pin`: replace old messages by a summary, and keep texts verbatim.


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
        print_json(console.out, pins)
        return
    for number, text in enumerate(pins):
        if number and ("\n" in text or "\n" in pins[number - 1]):
            console.out.line()
        for line in text.split("\n"):
            console.out.line(visible(line))


# ---------------------------------------------------------------------------- session options


def configure(args: argparse.Namespace, console: Console) -> int:
    """Change the options that a session keeps, or print them."""
    given = session_options(args)

    async def change(service: SessionApi, session: SessionSummary) -> None:
        changes = Configure(resolve_options(given, session.cwd, console.environ), tuple(args.reset))
        if changes == Configure():
            _write_options(console, (await service.ask(Status(session.id))).facts.settings, as_json=args.json)
            return
        await service.submit(session.id, changes)
        console.done(f"session {short_id(session.id)}: configured; its next run starts with that")

    return run_with_session(args.session, console, change)


def _write_options(console: Console, options: SessionOptions, *, as_json: bool) -> None:
    if as_json:
        print_json(console.out, options)
        return
    for name, value in msgspec.to_builtins(options).items():
        if value == {}:  # hooks that change nothing
            continue
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        console.out.line(f"{console.out.paint('name', name)}  {one_line(text)}")


def label(args: argparse.Namespace, console: Console) -> int:
    """Set and remove labels of a session, or print them."""
    changes: dict[str, str | None] = {**parse_labels(args.labels), **dict.fromkeys(args.remove)}

    async def change(service: SessionApi, session: SessionSummary) -> None:
        if changes:
            await service.submit(session.id, Label(changes))
        labels = (await service.ask(Status(session.id))).facts.labels
        written = [one_line(f"{name}={value}") for name, value in labels.items()]
        if changes:
            console.done(f"session {short_id(session.id)}: {' '.join(written) or 'no labels'}")
        elif args.json:
            print_json(console.out, labels)
        else:
            for text in written:
                console.out.line(text)

    return run_with_session(args.session, console, change)


# ---------------------------------------------------------------------------- session export
# `bridle session export`: export a session as a document or as a folder of files.


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


# ---------------------------------------------------------------------------- session admin
# `bridle session fork`, `rename`, `archive` and `delete`: changes go through the session API.


def fork(args: argparse.Namespace, console: Console) -> int:
    """Fork a session and print the id of the new one."""

    async def change(service: SessionApi, session: SessionSummary) -> None:
        console.out.line(await fork_session(service, session.id, args.at, messages=args.messages))

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


# ---------------------------------------------------------------------------- session commands


def steer(args: argparse.Namespace, console: Console) -> int:
    """Add a message to the active run."""
    return _send(args, console, Steer(_message(args)), "sent; the run reads it at its next turn")


def queue(args: argparse.Namespace, console: Console) -> int:
    """Queue a prompt until the active run ends."""

    async def work(api: SessionApi, session: SessionSummary) -> None:
        receipt = await _submit(api, session, Prompt(_message(args)))
        console.done("the run has started" if receipt.run_id else "queued; it starts when the run ends")

    return run_with_session(args.session, console, work)


def push(args: argparse.Namespace, console: Console) -> int:
    """Add a message without starting a run."""
    message = Message(args.role, (Text(_text(args)),))

    async def work(api: SessionApi, session: SessionSummary) -> None:
        await api.submit(session.id, Push((message,)))
        console.done(f"session {short_id(session.id)}: added; the model reads it with the next prompt")

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


def _message(args: argparse.Namespace) -> Message:
    from bridle.surfaces.shared.skill_prompt import read_images

    text = _text(args)
    return Message("user", (Text(text), *read_images(text, "")))


def _text(args: argparse.Namespace) -> str:
    text: str = " ".join(args.text).strip()
    if not text:
        raise UsageError("the message is empty")
    return text
