"""`bridle stats`: tokens, cost and time by model, agent, tool, hook and day, for all sessions or one tree."""

import argparse
import asyncio
from collections.abc import Mapping, Sequence

from bridle.config.duration import format_duration
from bridle.core.errors import ConfigError, StoreCorrupt, UsageError
from bridle.core.ids import SessionId
from bridle.core.usage import CompactionStats, UsageCounts
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_list import OUTCOME_WORDS
from bridle.surfaces.cli.session_lookup import find_session
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.shared.terminal import Console, Screen, columns, cut_start, one_line
from bridle.surfaces.shared.text_format import describe_cost, format_count, format_elapsed, short_id
from bridle.surfaces.shared.usage import Stats, UsageCounter, time_before

GAP = "  "
MAX_ROWS = 20  # per table; --json has all
MAX_NAME_COLUMNS = 48

Row = tuple[str, ...]


def stats(args: argparse.Namespace, console: Console) -> int:
    """Show usage statistics."""
    found = asyncio.run(_count(args, console, _since(args.since)))
    if args.json:
        print_json(console.out, found)
    elif found.sessions:
        _write(console.out, found)
    elif console.err.is_terminal:
        console.err.line("nothing was recorded in this period" if args.since else "no sessions yet")
    return 0


def _since(text: str | None) -> int:
    """Return the start time in milliseconds since 1970; raises UsageError."""
    if text is None:
        return 0
    try:
        return time_before(text)
    except ConfigError as error:
        raise UsageError(f"--since: {error.message}", hint="write for example 7d, 12h or 30m") from None


async def _count(args: argparse.Namespace, console: Console, since: int) -> Stats:
    def left_out(session: SessionId, error: StoreCorrupt) -> None:
        console.warn(f"session {short_id(session)} is left out: {error.message}")

    async with open_configured_store(console) as store:
        counting = UsageCounter(store.read, left_out, since=since)
        if args.session is None:
            await counting.add_all(await store.list(archived=args.all))
        else:
            await counting.add_tree(find_session(await store.list(archived=True), args.session))
    return counting.stats


# ---------------------------------------------------------------------------- output


def _write(screen: Screen, found: Stats) -> None:
    total = found.total
    screen.line(
        " · ".join(
            [
                format_count(found.sessions, "session"),
                format_count(sum(found.runs.values()), "run"),
                format_count(total.turns, "turn"),
                format_count(total.tool_calls, "tool call"),
                format_count(total.tokens, "token"),
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


def _use_rows(users: Mapping[str, UsageCounts]) -> list[Row]:
    return [
        (name, *_numbers(use.turns, use.tokens), _cost(use), _time(use.duration_ms))
        for name, use in users.items()
    ]


def _numbers(*numbers: int) -> Row:
    return tuple(f"{number:,}" if number else "-" for number in numbers)


def _cost(use: UsageCounts | CompactionStats) -> str:
    if not use.unpriced:
        return describe_cost(use.cost)
    return f"≥ {describe_cost(use.cost)}" if use.cost else "unknown"


def _time(duration_ms: int) -> str:
    if not duration_ms:
        return "-"
    return format_elapsed(duration_ms) if duration_ms < 60_000 else format_duration(round(duration_ms / 1000))


def _write_table(screen: Screen, headings: Row, rows: Sequence[Row]) -> None:
    """Write a table with right-aligned numbers after an empty line; write nothing without rows."""
    if not rows:
        return
    shown = [(_short(row[0]), *row[1:]) for row in rows[:MAX_ROWS]]
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
    """Shorten a long name, such as a model path, at its start."""
    return cut_start(one_line(name), MAX_NAME_COLUMNS)
