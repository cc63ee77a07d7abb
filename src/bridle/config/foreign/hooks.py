"""Import the hooks of Claude Code, like `bridle hooks import`, and report them as import outcomes."""

from collections.abc import Iterator
from pathlib import Path

from bridle.config.claude_hooks import add_hooks, read_claude_hooks
from bridle.config.foreign.findings import get_table, read_json
from bridle.config.import_files import ImportOutcome
from bridle.config.settings import Settings
from bridle.config.validation import one_line
from bridle.core.errors import ConfigError
from bridle.core.hook import CommandRuntime, HookEntry


def import_hooks(file: Path, settings: Settings, *, dry_run: bool) -> Iterator[ImportOutcome]:
    """Add the hooks of a `settings.json` that are not there yet. Blocks."""
    try:
        if not get_table(read_json(file, file.parent), "hooks"):
            return
        found = read_claude_hooks(file)
        known = {hook.entry.id for hook in settings.hooks_found}
        there = [_command(hook.entry) for hook in settings.hooks_found]
        new = [entry for entry in found.entries if _command(entry) not in there]
        if not dry_run:
            add_hooks(settings.user_file, new, known)
    except ConfigError as error:
        yield ImportOutcome("hook", file.name, "left out", error.message)
        return
    for entry in found.entries:
        yield ImportOutcome(
            "hook", one_line(_command(entry)[-1]), "imported" if entry in new else "already there"
        )
    for why in found.left_out:
        event, _, reason = why.partition(": ")
        yield ImportOutcome("hook", one_line(event), "left out", one_line(reason))


def _command(entry: HookEntry) -> tuple[str, ...]:
    """Return what identifies a hook: its point and its command."""
    runtime = entry.runtime
    return (entry.point, *(runtime.args if isinstance(runtime, CommandRuntime) else (entry.id,)))
