"""Report an import to the user: a table of kinds, then each item that needs an explanation."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from bridle.config.foreign.importer import BEFORE
from bridle.config.import_files import BroughtKind, ImportOutcome
from bridle.surfaces.cli.table import write_table
from bridle.surfaces.terminal import Console, one_line
from bridle.surfaces.text_format import format_count

HEADINGS = ("KIND", "IMPORTED", "ALREADY THERE", "LEFT OUT", "NOTE")
MAX_SHOWN = 200


def print_import(brought: Sequence[ImportOutcome], console: Console, *, dry_run: bool) -> None:
    """Print what was imported, or what would be."""
    if dry_run:
        console.out.line("dry run: nothing was changed")
    write_table(console.out, HEADINGS, [_row(kind, brought) for kind in _kinds(brought)])
    told = [line for one in brought for line in _lines(one)]
    for line in told[:MAX_SHOWN]:
        console.out.line(line)
    if len(told) > MAX_SHOWN:
        console.out.line(f"  and {len(told) - MAX_SHOWN:,} more; --json has all")


def _kinds(brought: Sequence[ImportOutcome]) -> list[str]:
    here = {one.kind for one in brought}
    return [kind for kind in get_args(BroughtKind) if kind in here]


def _row(kind: str, brought: Sequence[ImportOutcome]) -> tuple[str, ...]:
    these = [one for one in brought if one.kind == kind]
    outcomes = Counter(one.outcome for one in these)
    messages = sum(one.messages for one in these)
    counts = [f"{outcomes[outcome]:,}" for outcome in ("imported", "already there", "left out")]
    return (f"{kind}s", *counts, format_count(messages, "message") if messages else "")


def _lines(one: ImportOutcome) -> list[str]:
    lines = []
    if one.kind in ("rule", "server", "hook") and one.outcome == "imported":
        lines.append(f"  {one.kind} {one_line(one.name)}{f': {one_line(one.why)}' if one.why else ''}")
    elif one.why and one.why != BEFORE:
        lines.append(f"  {one.kind} {one_line(one.name)}: {one.outcome}: {one_line(one.why)}")
    lines += [
        f"  {one.kind} {one.name}: {format_count(times, 'line')} left out: {reason}"
        for reason, times in one.skipped.items()
    ]
    return lines
