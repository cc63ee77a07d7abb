"""`bridle stats`: what was used, and by whom, over all sessions or in one with its sub-agents."""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct, json

from bridle.config.duration import format_duration, parse_duration
from bridle.core.blame import Account, CompactionUse, HookUse, ToolUse, Use
from bridle.core.errors import ConfigError, StoreCorrupt, UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.core.protocol import ChildStarted, Outcome, Record
from bridle.surfaces.cli.find import find_session
from bridle.surfaces.cli.listing import OUTCOME_WORDS
from bridle.surfaces.cli.reading import reading
from bridle.surfaces.render import count, describe_cost, short_id, took
from bridle.surfaces.terminal import Console, Screen, columns, cut_start, one_line

GAP = "  "
MOST_ROWS = 20  # of a table; --json has all
MOST_NAME_COLUMNS = 48

Row = tuple[str, ...]


class Stats(Struct, frozen=True):
    """What `--json` prints."""

    sessions: int
    runs: dict[Outcome, int]
    """By their outcome."""
    total: Use
    models: dict[str, Use]
    agents: dict[str, Use]
    tools: dict[str, ToolUse]
    hooks: dict[str, HookUse]
    compaction: CompactionUse
    days: dict[str, Use]


def stats(args: argparse.Namespace, console: Console) -> int:
    """Show what was used."""
    account = Account(since=_since(args.since), day_of=_day_of)
    if args.session is None:
        asyncio.run(_add_all(console, account, archived=args.all, since=_since(args.since)))
    else:
        asyncio.run(_add_tree(console, account, args.session))
    found = _stats(account)
    if args.json:
        console.out.json(json.format(json.encode(found), indent=2))
    elif account.sessions:
        _write(console.out, found)
    elif console.err.is_terminal:
        console.err.line("nothing was recorded in this time" if args.since else "no sessions yet")
    return 0


def _since(text: str | None) -> int:
    """Return the time to count from, in milliseconds since 1970; raises UsageError."""
    if text is None:
        return 0
    try:
        return int((time.time() - parse_duration(text)) * 1000)
    except ConfigError as error:
        raise UsageError(f"--since: {error.message}", hint="write for example 7d, 12h or 30m") from None


def _day_of(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at_ms / 1000))


# ---------------------------------------------------------------------------- reading


async def _add_all(console: Console, account: Account, *, archived: bool, since: int) -> None:
    async with reading(console) as store:
        for session in await store.list(archived=archived):
            if session.updated_at >= since:
                await _add(console, store, account, session.id, session.agent)


async def _add_tree(console: Console, account: Account, wanted: str) -> None:
    async with reading(console) as store:
        root = find_session(await store.list(archived=True), wanted)
        names = {root.id: root.agent}
        waiting = [root.id]
        while waiting:
            session = waiting.pop()
            for record in await _add(console, store, account, session, names[session]):
                if isinstance(record.event, ChildStarted) and record.event.child not in names:
                    names[record.event.child] = record.event.name
                    waiting.append(record.event.child)


async def _add(
    console: Console, store: Store, account: Account, session: SessionId, agent: str
) -> Sequence[Record]:
    """Count one session; one that cannot be read is named and left out."""
    try:
        records = await store.read(session)
    except StoreCorrupt as error:
        console.warn(f"session {short_id(session)} is left out: {error.message}")
        return ()
    if records:
        account.begin(agent)
        account.add_all(records)
    return records


def _stats(account: Account) -> Stats:
    blame = account.blame
    return Stats(
        sessions=account.sessions,
        runs=dict(sorted(account.outcomes.items(), key=lambda outcome: -outcome[1])),
        total=account.own,
        models=_dearest_first(account.models),
        agents=_dearest_first(account.agents),
        tools=blame.tools,
        hooks=blame.hooks,
        compaction=account.compaction,
        days=dict(sorted(account.days.items(), reverse=True)),
    )


def _dearest_first(users: Mapping[str, Use]) -> dict[str, Use]:
    return dict(sorted(users.items(), key=lambda user: (-user[1].cost, -user[1].tokens)))


# ---------------------------------------------------------------------------- writing


def _write(screen: Screen, found: Stats) -> None:
    total = found.total
    screen.line(
        " · ".join(
            [
                count(found.sessions, "session"),
                count(sum(found.runs.values()), "run"),
                count(total.turns, "turn"),
                count(total.tool_calls, "tool call"),
                count(total.tokens, "token"),
                f"price {_cost(total)}" if total.unpriced and not total.cost else _cost(total),
            ]
        )
    )
    _write_table(
        screen, ("RUNS", "COUNT"), [(OUTCOME_WORDS[end], f"{runs:,}") for end, runs in found.runs.items()]
    )
    _write_table(screen, ("MODEL", "TURNS", "TOKENS", "COST", "TIME"), _use_rows(found.models))
    _write_table(screen, ("AGENT", "TURNS", "TOKENS", "COST", "TIME"), _use_rows(found.agents))
    _write_table(
        screen,
        ("TOOL", "CALLS", "FAILED", "DENIED", "TOKENS", "TIME"),
        [
            (name, *_numbers(tool.calls, tool.failed, tool.denied, tool.tokens), _time(tool.duration_ms))
            for name, tool in found.tools.items()
        ],
    )
    _write_table(
        screen,
        ("HOOK", "ASKED", "DENIED", "FAILED", "TIME"),
        [
            (name, *_numbers(hook.asked, hook.denied, hook.failed), _time(hook.duration_ms))
            for name, hook in found.hooks.items()
        ],
    )
    made = found.compaction
    if made.count or made.failed:
        row = ("summaries", *_numbers(made.count, made.failed, made.tokens), _cost(made))
        _write_table(screen, ("COMPACTION", "MADE", "FAILED", "TOKENS", "COST"), [row])
    _write_table(screen, ("DAY", "TURNS", "TOKENS", "COST", "TIME"), _use_rows(found.days))


def _use_rows(users: Mapping[str, Use]) -> list[Row]:
    return [
        (name, *_numbers(use.turns, use.tokens), _cost(use), _time(use.duration_ms))
        for name, use in users.items()
    ]


def _numbers(*numbers: int) -> Row:
    return tuple(f"{number:,}" if number else "-" for number in numbers)


def _cost(use: Use | CompactionUse) -> str:
    if not use.unpriced:
        return describe_cost(use.cost)
    return f"≥ {describe_cost(use.cost)}" if use.cost else "unknown"


def _time(duration_ms: int) -> str:
    if not duration_ms:
        return "-"
    return took(duration_ms) if duration_ms < 60_000 else format_duration(round(duration_ms / 1000))


def _write_table(screen: Screen, headings: Row, rows: Sequence[Row]) -> None:
    """Write rows with their numbers to the right, after an empty line; without rows write nothing."""
    if not rows:
        return
    shown = [(_short(row[0]), *row[1:]) for row in rows[:MOST_ROWS]]
    widths = [max(map(columns, column)) for column in zip(headings, *shown, strict=True)]
    screen.line("")
    for index, (name, *numbers) in enumerate([headings, *shown]):
        room = " " * (widths[0] - columns(name))
        cells = [
            " " * (width - columns(cell)) + cell for cell, width in zip(numbers, widths[1:], strict=True)
        ]
        if index:
            screen.line(GAP.join([screen.paint("name", name) + room, *cells]))
        else:
            screen.line(screen.paint("detail", GAP.join([name + room, *cells])))
    if more := len(rows) - len(shown):
        screen.line(screen.paint("detail", f"… {more:,} more, see --json"))


def _short(name: str) -> str:
    """Cut the start of a long name, such as a model that is a path."""
    return cut_start(one_line(name), MOST_NAME_COLUMNS)
