"""`bridle session turns`, `diff` and `rewind`: what a session changed, and how to undo it.

```
   0  before the first prompt
> make the greeting friendlier
   1  read_file hello.py
   2  edit_file hello.py (1 file changed)
   3  The greeting is friendlier now.
```
"""

import argparse
from collections.abc import Sequence

from msgspec import Struct

from bridle.core.errors import SessionConflict, UsageError
from bridle.core.protocol import ModelReplied, Record, Rewind, Rewound, RunStarted
from bridle.core.queries import Changes, Describe, PlanRewind, Records, RewindPlan
from bridle.core.revision import FileChange
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.core.transcript import drop_rewound
from bridle.core.turns import Turn, find_turn, last_rewind, list_turns
from bridle.surfaces.cli.confirm import ask_confirmation
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_access import run_with_session
from bridle.surfaces.shared.terminal import Colour, Console, Screen, columns, cut, one_line, visible
from bridle.surfaces.shared.text_format import describe_args, format_count, paint_diff, short_id

MAX_DIFF_LINES = 400  # for the preview of a rewind; `diff` shows all
MAX_NAMED = 10
ROOM_FOR_NUMBER = 6
MIN_ROOM = 10


class RewindResult(Struct, frozen=True):
    """The output of `rewind --json`."""

    done: bool
    to_seq: int
    changes: tuple[FileChange, ...]
    """From the content before the rewind to the content after it, done or planned."""
    conflicts: tuple[str, ...]
    """Paths changed by something other than the session since."""
    lost: tuple[str, ...]
    """Paths whose earlier content was too large to keep."""
    left: tuple[str, ...] = ()
    """What could not be restored, as sentences."""


def turns(args: argparse.Namespace, console: Console) -> int:
    """List the turns that a rewind can go back to."""

    async def show(service: SessionApi, session: SessionSummary) -> None:
        if args.json:
            print_json(console.out, list_turns(await service.ask(Records(session.id))))
            return
        for line in turn_lines(console.out, await service.ask(Records(session.id))):
            console.out.line(line)

    return run_with_session(args.session, console, show)


def diff(args: argparse.Namespace, console: Console) -> int:
    """Show what a session or one of its turns changed on disk."""

    async def show(service: SessionApi, session: SessionSummary) -> None:
        after, upto = 0, None
        if args.turn is not None:
            records = await service.ask(Records(session.id))
            upto = find_turn(records, args.turn).seq
            after = find_turn(records, args.turn - 1).seq if args.turn else 0
        changes = await service.ask(Changes(session.id, after, upto))
        if args.json:
            print_json(console.out, changes)
        elif args.stat:
            _write_changes(console, changes)
        else:
            _write_diff(console.out, await service.ask(Describe(changes)))
        if not changes and console.err.is_terminal:
            console.err.line("no file changes")

    return run_with_session(args.session, console, show)


def rewind(args: argparse.Namespace, console: Console) -> int:
    """Restore conversation and files to their state after a turn; show the changes and ask first."""
    if (args.to is None) == (not args.undo):
        raise UsageError("no turn given", hint="--to TURN (see bridle session turns ID), or --undo")
    failed = False

    async def go_back(service: SessionApi, session: SessionSummary) -> None:
        nonlocal failed
        records = await service.ask(Records(session.id))
        to_seq = last_rewind(records) if args.undo else find_turn(records, args.to).seq
        plan = await service.ask(PlanRewind(session.id, to_seq))
        if args.only == "conversation":
            plan = RewindPlan(to_seq)
        if not args.json:
            await _show_plan(console, service, plan, args)
            _show_turns(console, records, args)
        if args.dry_run:
            _finish(args, console, session, plan, None)
            return
        _refuse_conflicts(args, session, plan)
        question = "undo the last rewind?" if args.undo else f"rewind to turn {args.to}?"
        hint = _command(args, session, "--yes")
        if not args.yes and not ask_confirmation(
            console, question, without="rewinding needs confirmation", hint=hint
        ):
            console.err.line("nothing was changed")
            return
        receipt = await service.submit(session.id, Rewind(to_seq, args.only or "all", args.force))
        done = [record.event for record in (await service.ask(Records(session.id)))[: receipt.seq]]
        left = next((event.left for event in reversed(done) if isinstance(event, Rewound)), ())
        _finish(args, console, session, plan, left)
        failed = bool(left)

    run_with_session(args.session, console, go_back)
    return 1 if failed else 0


# ---------------------------------------------------------------------------- rewind


async def _show_plan(
    console: Console, service: SessionApi, plan: RewindPlan, args: argparse.Namespace
) -> None:
    lines = (await service.ask(Describe(plan.changes))).split("\n")
    _write_diff(console.out, "\n".join(lines[:MAX_DIFF_LINES]))
    console.out.flush()
    if len(lines) > MAX_DIFF_LINES:
        console.err.line(f"({format_count(len(lines) - MAX_DIFF_LINES, 'more line')} not shown)")
    if args.only != "conversation" and not plan.changes:
        console.err.line("no file changes")
    for path in plan.lost:
        console.warn(f"{visible(path)} cannot be restored: it was too large to save")
    if args.force or args.dry_run:  # otherwise they are reported by the refusal
        for path in plan.conflicts:
            console.warn(f"{visible(path)} was changed outside the session")


def _show_turns(console: Console, records: Sequence[Record], args: argparse.Namespace) -> None:
    if args.undo or args.only == "files":
        return
    last = list_turns(records)[-1].number
    if args.to < last:
        gone = f"turn {last}" if args.to + 1 == last else f"turns {args.to + 1} to {last}"
        console.err.line(f"{gone} will be removed from the conversation")


def _refuse_conflicts(args: argparse.Namespace, session: SessionSummary, plan: RewindPlan) -> None:
    """Raise SessionConflict before asking the user; the engine checks again before it changes anything."""
    if not plan.conflicts or args.force:
        return
    named = ", ".join(one_line(path) for path in plan.conflicts[:MAX_NAMED])
    more = len(plan.conflicts) - MAX_NAMED
    raise SessionConflict(
        f"changed outside the session: {named}{f' and {more} more' if more > 0 else ''}",
        hint=f"{_command(args, session, '--force')} overwrites them (this can be undone);"
        " --only conversation leaves all files alone",
    )


def _finish(
    args: argparse.Namespace,
    console: Console,
    session: SessionSummary,
    plan: RewindPlan,
    left: tuple[str, ...] | None,
) -> None:
    """Print the result; `left` is None after a dry run."""
    if args.json:
        result = RewindResult(
            left is not None, plan.to_seq, plan.changes, plan.conflicts, plan.lost, left or ()
        )
        print_json(console.out, result)
    elif left is None:
        console.err.line("nothing was changed: this was a dry run")
        return
    for words in left or ():
        console.warn(f"could not be restored: {words}")
    if left is not None:
        where = "back to the state before its last rewind" if args.undo else f"back at turn {args.to}"
        undo = f"bridle session rewind {short_id(session.id)} --undo"
        console.done(f"session {short_id(session.id)} is {where} (to undo this: {undo})")


def _command(args: argparse.Namespace, session: SessionSummary, flag: str) -> str:
    """Return this command with one more flag, for the user to type."""
    given = ["--undo"] if args.undo else ["--to", str(args.to)]
    given += ["--only", args.only] if args.only else []
    given += [name for name, wanted in (("--force", args.force), ("--yes", args.yes)) if wanted]
    return " ".join(["bridle session rewind", short_id(session.id), *given, flag])


# ---------------------------------------------------------------------------- output


def turn_lines(screen: Screen, records: Sequence[Record]) -> list[str]:
    """Return the turns of a session, each below the prompt that started it."""
    lines = ["   0  before the first prompt"]
    rest = iter(drop_rewound(records))
    for turn in list_turns(records)[1:]:
        said = ""
        for record in rest:
            if isinstance(record.event, RunStarted):
                lines.append(screen.paint("strong", f"> {_cut_to_fit(screen, one_line(turn.prompt), 2)}"))
            elif isinstance(record.event, ModelReplied):
                said = _what_it_did(record.event)
            if record.seq == turn.seq:
                break
        lines.append(_turn_line(screen, turn, said))
    return lines


def _what_it_did(reply: ModelReplied) -> str:
    """Return one line about a turn: its tool calls, or the answer."""
    calls = [f"{one_line(call.name)} {describe_args(call.args)}".rstrip() for call in reply.message.calls]
    return " · ".join(calls) or one_line(reply.message.text)


def _turn_line(screen: Screen, turn: Turn, said: str) -> str:
    files = f" ({format_count(turn.files, 'file')} changed)" if turn.files else ""
    shown = _cut_to_fit(screen, said, ROOM_FOR_NUMBER + columns(files))
    return f"{turn.number:>4}  {shown}{screen.paint('warning', files)}".rstrip()


def _cut_to_fit(screen: Screen, text: str, taken: int) -> str:
    """Cut a text to the rest of a terminal line; leave it whole for a file or a pipe."""
    return cut(text, max(screen.width - taken, MIN_ROOM)) if screen.is_terminal else text


def _write_changes(console: Console, changes: Sequence[FileChange]) -> None:
    for change in changes:
        word, colour = _kind(change)
        console.out.line(f"{console.out.paint(colour, word)} {visible(change.path)}")


def _kind(change: FileChange) -> tuple[str, Colour]:
    if change.before is None:
        return "created", "done"
    return ("deleted", "failed") if change.after is None else ("changed", "warning")


def _write_diff(screen: Screen, text: str) -> None:
    """Write a diff, in color for a terminal and unchanged for a pipe."""
    text = text.removesuffix("\n")
    if not text:
        return
    if screen.coloured or screen.is_terminal:
        screen.line("\n".join(paint_diff(screen, text)))
    else:
        screen.data(f"{text}\n")
