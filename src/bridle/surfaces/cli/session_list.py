"""`bridle session list` and `show`: recorded sessions, as text or JSON."""

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct, json

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message
from bridle.core.protocol import Outcome, QueuedPrompt, Record, RunEnded, Totals
from bridle.core.session import fold
from bridle.core.summary import SessionSummary, has_labels
from bridle.stores.record_lines import DamagedList
from bridle.surfaces.cli.options import parse_labels
from bridle.surfaces.cli.session_lookup import find_session
from bridle.surfaces.cli.store_access import list_readable_sessions, open_configured_store
from bridle.surfaces.shared.full_transcript import CodeCall, collect_code_calls, list_visible_messages
from bridle.surfaces.shared.terminal import Console, Screen, columns, cut, cut_start, one_line, pad
from bridle.surfaces.shared.text_format import short_id
from bridle.surfaces.shared.transcript import local_time, transcript_lines

HEADINGS = ("SESSION", "UPDATED", "STATE", "TITLE", "DIRECTORY")
GAP = "  "
OUTCOME_WORDS: dict[Outcome | None, str] = {
    None: "new",
    "completed": "done",
    "denied": "denied",
    "cancelled": "cancelled",
    "failed": "failed",
    "budget_exhausted": "out of budget",
    "limit": "stopped",
}
MIN_ROOM = 30  # least width for a title and a directory, however narrow the terminal


class SessionView(Struct, frozen=True):
    """The output of `session show --json`."""

    session: SessionSummary
    totals: Totals
    granted: tuple[str, ...]
    queue: tuple[QueuedPrompt, ...]
    last_run: RunEnded | None
    messages: list[Message]
    cells: dict[CallId, CodeCall]
    """What Python code did, by the id of the call that ran it."""


def list_sessions(args: argparse.Namespace, console: Console) -> int:
    """List the sessions, newest first."""
    labels = parse_labels(args.label)
    damage: DamagedList | None = None
    try:
        sessions: Sequence[SessionSummary] = asyncio.run(_list(console, archived=args.all))
    except DamagedList as error:
        sessions, damage = error.sessions, error
    sessions = [session for session in sessions if has_labels(session, labels)]
    if args.json:
        console.out.json(json.format(json.encode(sessions), indent=2))
    elif sessions:
        _write_table(console.out, _rows(sessions))
    elif labels and damage is None:
        console.warn("no session has these labels")
    elif console.err.is_terminal and damage is None:
        console.err.line("no sessions yet")
        console.hint('bridle run "what does this project do"')
    if damage is not None:
        console.out.flush()
        console.fail(damage.message, damage.hint)
    return 0 if damage is None else 1


def show(args: argparse.Namespace, console: Console) -> int:
    """Show one session as a transcript or as JSON."""
    summary, records = asyncio.run(_read(console, args.session))
    if args.json:
        console.out.json(json.format(json.encode(_view(summary, records)), indent=2))
        return 0
    for line in transcript_lines(console.out, records):
        console.out.line(line)
    return 0


async def _list(console: Console, *, archived: bool) -> list[SessionSummary]:
    async with open_configured_store(console) as store:
        return await store.list(archived=archived)


async def _read(console: Console, wanted: str) -> tuple[SessionSummary, list[Record]]:
    async with open_configured_store(console) as store:
        summary = find_session(await list_readable_sessions(store, console), wanted)
        return summary, await store.read(summary.id)


def _view(summary: SessionSummary, records: list[Record]) -> SessionView:
    session = fold(records)
    facts = session.known
    messages = [item for item in list_visible_messages(records) if isinstance(item, Message)]
    return SessionView(
        summary,
        facts.totals,
        facts.granted,
        facts.queue,
        session.last,
        messages,
        collect_code_calls(records),
    )


def _rows(sessions: Sequence[SessionSummary]) -> list[tuple[str, ...]]:
    taken = Counter(short_id(session.id) for session in sessions)
    return [
        (
            short_id(session.id) if taken[short_id(session.id)] == 1 else session.id,
            local_time(session.updated_at),
            _state(session),
            f"{'  ' * (depth - 1)}{'└ ' * bool(depth)}{one_line(session.title) or '(no title)'}",
            one_line(_below_home(session.cwd)),
        )
        for depth, session in _in_families(sessions)
    ]


def _in_families(sessions: Sequence[SessionSummary]) -> Iterator[tuple[int, SessionSummary]]:
    """Yield sessions with their depth, newest family first; sub-agents follow their parent in order."""
    known = {session.id: session for session in sessions}
    below: dict[SessionId | None, list[SessionSummary]] = {}
    for session in sorted(sessions, key=lambda one: (one.created_at, one.id)):
        below.setdefault(session.parent if session.sub_agent else None, []).append(session)
    shown: set[SessionId] = set()
    for session in sessions:
        eldest, line = session, {session.id}
        while eldest.sub_agent and eldest.parent in known and eldest.parent not in line:
            eldest = known[eldest.parent]
            line.add(eldest.id)
        todo = [(int(eldest.sub_agent), eldest)]
        while todo:
            depth, one = todo.pop()
            if one.id not in shown:
                shown.add(one.id)
                yield depth, one
                todo += [(depth + 1, child) for child in reversed(below.get(one.id, []))]


def _state(session: SessionSummary) -> str:
    if session.unfinished:
        return "unfinished"
    if session.archived:
        return "archived"
    return OUTCOME_WORDS[session.outcome]


def _below_home(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def _write_table(screen: Screen, rows: list[tuple[str, ...]]) -> None:
    """Write rows in columns; on a terminal, cut titles and directories to fit."""
    table = [HEADINGS, *rows]
    if screen.is_terminal:
        table = _fitted(table, screen.width)
    widths = _widths(table)
    for index, row in enumerate(table):
        first, *others = (pad(cell, width) for cell, width in zip(row, widths, strict=True))
        line = f"{screen.paint('name', first)}{GAP}{GAP.join(others)}".rstrip()
        screen.line(line if index else screen.paint("detail", GAP.join([first, *others]).rstrip()))


def _fitted(table: list[tuple[str, ...]], width: int) -> list[tuple[str, ...]]:
    *fixed, title, folder = _widths(table)
    room = max(width - sum(fixed) - len(GAP) * len(fixed) - len(GAP), MIN_ROOM)
    title = min(title, max(room - folder, room * 2 // 3))
    return [(*row[:-2], cut(row[-2], title), cut_start(row[-1], room - title)) for row in table]


def _widths(table: list[tuple[str, ...]]) -> list[int]:
    return [max(columns(row[index]) for row in table) for index in range(len(HEADINGS))]
