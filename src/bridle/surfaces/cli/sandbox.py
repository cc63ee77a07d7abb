"""`bridle sandbox`: run a program in the agent's sandbox, or show its status."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from bridle.app import open_sandbox, writable_folders
from bridle.config.rules import resolve_rules
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ToolError, UsageError
from bridle.core.ids import SessionId
from bridle.core.permission import Action, Rule, parse_rule
from bridle.core.ports import ProcessSpec, Sandbox, SandboxStatus
from bridle.surfaces.cli.options import check_rules
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_lookup import load_settings_here, resolve_directory
from bridle.surfaces.shared.terminal import Console, visible

SESSION = SessionId("sandbox-run")

MEANINGS = {
    "files": "only named folders can be changed",
    "hidden": "files that rules deny are hidden",
    "fixed": "git hooks and Bridle's settings cannot be changed",
    "network": "only hosts that rules allow",
    "processes": "other programs are invisible",
    "syscalls": "no way out of the sandbox",
    "undo": "files are saved before a program changes them",
    "limits": "memory, processes and file sizes",
}
MEANING_WIDTH = max(map(len, MEANINGS.values()))


def run(args: argparse.Namespace, console: Console) -> int:
    """Run a program in the sandbox and pass on its exit status."""
    argv = args.argv[1:] if args.argv[:1] == ["--"] else args.argv
    if not argv:
        raise UsageError("no program given", hint="bridle sandbox run -- make test")
    cwd = resolve_directory()
    settings = load_settings(console.environ, Path(cwd))
    for warning in settings.warnings:
        console.warn(warning)
    rules = _rules(args, settings)
    sandbox = open_sandbox(settings)
    if sandbox.status.kind == "none":
        raise ToolError(f"there is no sandbox here: {sandbox.status.why}", hint="bridle doctor")
    console.out.flush()
    console.err.flush()
    spec = _spec(tuple(argv), cwd, settings, rules, console.environ)
    status, put_away = asyncio.run(_run(sandbox, spec))
    for sentence in put_away:
        console.warn(sentence)
    return status


async def _run(sandbox: Sandbox, spec: ProcessSpec) -> tuple[int, tuple[str, ...]]:
    try:
        process = await sandbox.start(spec, SESSION)
        status = await process.wait()
        return status, process.changes.put_away
    finally:
        await sandbox.end_session(SESSION)


def _spec(
    argv: tuple[str, ...], cwd: str, settings: Settings, rules: tuple[Rule, ...], environ: Mapping[str, str]
) -> ProcessSpec:
    from bridle.tools.shell.settings import command_environment

    guard = settings.sandbox
    return ProcessSpec(
        argv=argv,
        cwd=cwd,
        env=command_environment(
            environ,
            secret=tuple(provider.api_key_env for provider in settings.providers.values()),
            kept=guard.pass_env,
        ),
        output=1,
        errors=2,
        input=None if sys.stdin is None else 0,
        writable=(cwd, *writable_folders(settings)),
        keep=_keep_nothing,
        rules=rules,
        open_network=guard.network == "open",
        memory_bytes=guard.memory_bytes,
        max_processes=guard.max_processes,
        max_file_bytes=guard.max_file_bytes,
    )


def _keep_nothing(path: str) -> None:
    """Enable change tracking, so that files that rules protect cannot be recreated; keep no old contents."""


def _rules(args: argparse.Namespace, settings: Settings) -> tuple[Rule, ...]:
    actions: tuple[Action, ...] = ("allow", "deny")
    flags = [
        parse_rule(action, text) for action in actions for text in check_rules(action, vars(args)[action])
    ]
    return resolve_rules((*settings.rules.rules(), *flags), settings.user_folder, settings.cwd)


def status(args: argparse.Namespace, console: Console) -> int:
    """Show which protections are active; exit code 1 if there is no sandbox."""
    settings = load_settings_here(console)
    found = open_sandbox(settings).status
    if args.json:
        print_json(console.out, found)
    else:
        _write(console, found)
        console.out.flush()
    if settings.sandbox.mode == "off":
        console.warn("sandbox.mode is off: agents run commands without it")
    return 1 if found.kind == "none" else 0


def _write(console: Console, found: SandboxStatus) -> None:
    out = console.out
    out.line(out.paint("strong", found.kind) + (f": {visible(found.why)}" if found.why else ""))
    for name, active, basis in found.parts:
        state = out.paint("done", "yes") if active else out.paint("warning", "no ")
        meaning = f"{MEANINGS.get(name, ''):<{MEANING_WIDTH}}"
        out.line(f"  {state}  {name:<9}  {meaning}  {out.paint('detail', basis)}".rstrip())
