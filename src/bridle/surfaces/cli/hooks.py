"""`bridle hooks`: list the hooks and their state, test one, and import those of Claude Code."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, json

from bridle.app import hook_site, open_sandbox
from bridle.config.claude_hooks import add_hooks, read_claude_hooks
from bridle.config.file_names import CONFIG_FILE, PROJECT_FOLDER
from bridle.config.hooks import FoundHook, redact_entry
from bridle.config.settings import Settings
from bridle.config.validation import nearest
from bridle.core.errors import ConfigError, UsageError
from bridle.core.hook import CommandRuntime, HookInvocation, HookRuntime, HttpRuntime, InProcessRuntime
from bridle.core.malformed import MALFORMED
from bridle.core.ports import HookRound
from bridle.core.protocol import HookCompleted, HookFailed
from bridle.hooks.factory import HookTrial, hook_problem, run_one_hook
from bridle.hooks.schema import sample
from bridle.surfaces.cli.output.data import print_json, short_path, write_table
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.terminal import Console, one_line, visible
from bridle.surfaces.shared.text_format import format_count

HEADINGS = ("HOOK", "STATE", "POINT", "MODE", "CAPABILITY", "PRIORITY", "POLICY", "WHERE", "RUNTIME")
MAX_INPUT_BYTES = 64 * 1024 * 1024

State = Literal["ok", "missing", "not trusted", "disabled"]


class HookTestResult(Struct, frozen=True):
    """The output of `hooks test --json`."""

    invocation: HookInvocation
    answer: str
    verdict: Literal["no opinion", "deny", "patches", "failed"]
    message: str = ""
    reason_code: str = ""
    patches: tuple[Any, ...] = ()
    ignored: tuple[str, ...] = ()
    duration_ms: int = 0


def list_hooks(args: argparse.Namespace, console: Console) -> int:
    """List the hooks configured here."""
    settings = load_settings_here(console)
    site = hook_site(settings, console.environ, open_sandbox(settings))
    listed = [(hook, hook_problem(hook.entry, site)) for hook in settings.hooks_found]
    if args.json:
        rows = [_plain(hook, problem) for hook, problem in listed]
        print_json(console.out, rows)
        return 0
    if not listed:
        console.err.line("no hooks yet")
        console.hint("docs/hooks.md shows how to write one; bridle hooks import copies those of Claude Code")
        return 0
    write_table(console.out, HEADINGS, [_row(hook, problem, settings) for hook, problem in listed])
    for hook, problem in listed:
        if _state(hook, problem) == "missing":
            console.warn(f'hook "{hook.entry.id}": {problem}')
    if not all(hook.trusted for hook, _ in listed):
        console.hint("run bridle trust to activate those of the project")
    return 0


def test(args: argparse.Namespace, console: Console) -> int:
    """Call one hook with an example and show its answer."""
    settings = load_settings_here(console)
    hook = _find(args.id, settings)
    if not hook.trusted:
        raise ConfigError(f'hook "{args.id}" belongs to a project that is not trusted', hint="bridle trust")
    if args.input is None:
        invocation = sample(args.point or hook.entry.point, str(settings.cwd))
    else:
        invocation = _read_invocation(args.input)
    site = hook_site(settings, console.environ, open_sandbox(settings))
    trial = asyncio.run(run_one_hook(hook.entry, invocation, site))
    tried = _tried(invocation, trial)
    if args.json:
        print_json(console.out, tried)
    else:
        _show(console, tried)
    return 1 if tried.verdict == "failed" else 0


def import_hooks(args: argparse.Namespace, console: Console) -> int:
    """Import the command hooks of Claude Code."""
    settings = load_settings_here(console)
    found = read_claude_hooks(Path(args.file).expanduser())
    base = (settings.project or settings.root) / PROJECT_FOLDER if args.project else settings.home
    known = {hook.entry.id for hook in settings.hooks_found}
    added = add_hooks(base / CONFIG_FILE, found.entries, known)
    there = len(found.entries) - len(added)
    if args.json:
        report = {
            "added": [redact_entry(entry) for entry in added],
            "already_there": there,
            "left_out": found.left_out,
        }
        print_json(console.out, report)
        return 0
    for entry in added:
        console.out.line(f"{visible(entry.id)}  {entry.point}  {one_line(_runtime(entry.runtime))}")
    for reason in found.left_out:
        console.warn(f"not imported: {one_line(reason)}")
    note = f", {there} already present" if there else ""
    console.done(f"{format_count(len(added), 'hook')} added to {base / CONFIG_FILE}{note}")
    if args.project and added:
        console.hint("run bridle trust to activate them")
    return 0


def _find(wanted: str, settings: Settings) -> FoundHook:
    known = {hook.entry.id: hook for hook in reversed(settings.hooks_found)}
    if wanted in known:
        return known[wanted]
    near = nearest(wanted, known)
    raise ConfigError(f"unknown hook {wanted}", hint=f"did you mean {near}?" if near else "bridle hooks list")


def _read_invocation(file: str) -> HookInvocation:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_INPUT_BYTES)
        else:
            with open(Path(file).expanduser(), "rb") as opened:
                data = opened.read(MAX_INPUT_BYTES)
        return json.decode(data, type=HookInvocation)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except MALFORMED as error:
        raise UsageError(
            f"{file}: is not an invocation: {error}", hint="bridle schema hooks prints the format"
        ) from error


def _tried(invocation: HookInvocation, trial: HookTrial) -> HookTestResult:
    answer = trial.raw.decode(errors="replace")
    asked = trial.round
    first = asked.events[0]
    duration_ms = first.duration_ms if isinstance(first, HookCompleted | HookFailed) else 0
    if isinstance(first, HookFailed):
        return HookTestResult(invocation, answer, "failed", first.error, duration_ms=duration_ms)
    return _answered(invocation, answer, asked, duration_ms)


def _answered(invocation: HookInvocation, answer: str, asked: HookRound, duration_ms: int) -> HookTestResult:
    outcome = asked.outcome
    if deny := outcome.deny:
        return HookTestResult(
            invocation, answer, "deny", deny.message, deny.reason_code, (), outcome.ignored, duration_ms
        )
    verdict: Literal["patches", "no opinion"] = "patches" if outcome.patches else "no opinion"
    return HookTestResult(invocation, answer, verdict, "", "", outcome.patches, outcome.ignored, duration_ms)


def _show(console: Console, tried: HookTestResult) -> None:
    out = console.out
    out.line(out.paint("detail", "input"))
    out.line(f"  {visible(json.encode(tried.invocation).decode())}")
    out.line(out.paint("detail", "output"))
    for line in tried.answer.rstrip("\n").split("\n"):
        out.line(f"  {visible(line)}" if line else "  (nothing)")
    code = f" ({tried.reason_code})" if tried.reason_code else ""
    message = f": {one_line(tried.message)}" if tried.message else ""
    colour: Literal["failed", "done"] = "failed" if tried.verdict == "failed" else "done"
    out.line(f"{out.paint(colour, tried.verdict)}{code}{message}  {tried.duration_ms} ms")
    for patch in tried.patches:
        out.line(f"  {visible(json.encode(patch).decode())}")
    for note in tried.ignored:
        console.warn(f"ignored: {note}")


def _row(hook: FoundHook, problem: str, settings: Settings) -> tuple[str, ...]:
    entry = hook.entry
    file, _, line = hook.place.rpartition(":")
    return (
        entry.id,
        _state(hook, problem),
        entry.point,
        entry.mode,
        entry.capability,
        str(entry.priority),
        entry.policy,
        f"{short_path(file, settings)}:{line}" if file else hook.place,
        _runtime(entry.runtime),
    )


def _plain(hook: FoundHook, problem: str) -> dict[str, Any]:
    return {
        **redact_entry(hook.entry),
        "id": hook.entry.id,
        "point": hook.entry.point,
        "mode": hook.entry.mode,
        "capability": hook.entry.capability,
        "priority": hook.entry.priority,
        "failure_policy": hook.entry.policy,
        "where": hook.place,
        "state": _state(hook, problem),
        "problem": problem,
    }


def _state(hook: FoundHook, problem: str) -> State:
    if not hook.trusted:
        return "not trusted"
    if not hook.entry.enabled:
        return "disabled"
    return "missing" if problem else "ok"


def _runtime(runtime: HookRuntime) -> str:
    match runtime:
        case InProcessRuntime(name):
            return f"in_process {name}"
        case CommandRuntime(command, args):
            return " ".join((command, *args))
        case HttpRuntime(url):
            return url
