"""`bridle import claude|codex|crush`: import the sessions and settings of those programs."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct, json

from bridle.config.foreign import claude as claude_settings
from bridle.config.foreign import codex as codex_settings
from bridle.config.foreign import crush as crush_settings
from bridle.config.foreign.findings import Finding, kind_of
from bridle.config.foreign.hooks import import_hooks
from bridle.config.foreign.import_record import ImportRecord
from bridle.config.foreign.importer import Importer
from bridle.config.import_files import ImportOutcome
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import UsageError
from bridle.stores.foreign import claude, codex, crush
from bridle.stores.foreign.json_files import ForeignSession, SourceFolder
from bridle.surfaces.cli.confirm import ask_confirmation
from bridle.surfaces.cli.import_report import print_import
from bridle.surfaces.cli.import_sessions import SessionImporter
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.terminal import Console


class SourceProgram(Struct, frozen=True):
    """Another program: where it stores its data, and how to read it."""

    name: str
    folder: Path
    sources: Callable[[Path], list[SourceFolder]]
    read: Callable[[SourceFolder], ForeignSession | None]
    findings: Callable[[], Iterator[Finding]]
    hooks: Path | None = None
    cwd: str = ""
    """The directory of all its sessions; empty if each has one."""


def import_claude(args: argparse.Namespace, console: Console) -> int:
    """Import the data of Claude Code."""
    folder = _folder(args.folder or console.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude", console)
    _must_have(folder, ("projects", "settings.json", "commands", "agents", "skills"), "Claude Code")
    program = SourceProgram(
        "claude",
        folder,
        claude.sources,
        claude.read,
        lambda: claude_settings.findings(folder),
        folder / claude_settings.SETTINGS_FILE,
    )
    return _import(program, args, console)


def import_codex(args: argparse.Namespace, console: Console) -> int:
    """Import the data of the Codex CLI."""
    folder = _folder(args.folder or console.environ.get("CODEX_HOME") or "~/.codex", console)
    _must_have(folder, ("sessions", "config.toml", "prompts", "skills"), "the Codex CLI")
    program = SourceProgram(
        "codex", folder, codex.sources, codex.read, lambda: codex_settings.findings(folder)
    )
    return _import(program, args, console)


def import_crush(args: argparse.Namespace, console: Console) -> int:
    """Import Crush's data of one project, and its user's settings."""
    folder = _folder(args.folder or ".", console)
    _must_have(folder, (".crush", *crush_settings.CONFIG_NAMES), "Crush")
    own = _folder(console.environ.get("XDG_CONFIG_HOME") or "~/.config", console) / "crush"
    program = SourceProgram(
        "crush",
        folder,
        crush.sources,
        crush.read,
        lambda: crush_settings.findings((own, folder)),
        cwd=str(folder),
    )
    return _import(program, args, console)


def _folder(text: str, console: Console) -> Path:
    if text.startswith("~/"):
        text = f"{console.environ.get('HOME', '')}/{text[2:]}"
    return Path(resolve_directory(), text)


def _must_have(folder: Path, names: Iterable[str], title: str) -> None:
    if not any((folder / name).exists() for name in names):
        raise UsageError(
            f"{folder} is not a folder of {title}: it has no {', '.join(names)}", hint="name its folder"
        )


def _import(program: SourceProgram, args: argparse.Namespace, console: Console) -> int:
    settings = load_settings(console.environ, Path(args.cwd or resolve_directory()).absolute())
    is_asked = not (args.yes or args.json or args.dry_run) and sys.stdin is not None and sys.stdin.isatty()
    if args.dry_run or is_asked:
        brought = _bring(program, settings, args, console, dry_run=True)
        _show(brought, args, console, dry_run=True)
        if args.dry_run or not any(one.outcome == "imported" for one in brought):
            return 0
        if not ask_confirmation(console, "import this?", without="", hint=""):
            return 0
    _show(_bring(program, settings, args, console, dry_run=False), args, console, dry_run=False)
    return 0


def _show(brought: list[ImportOutcome], args: argparse.Namespace, console: Console, *, dry_run: bool) -> None:
    if args.json:
        console.out.json(json.format(json.encode(brought), indent=2))
    else:
        print_import(brought, console, dry_run=dry_run)


def _bring(
    program: SourceProgram, settings: Settings, args: argparse.Namespace, console: Console, *, dry_run: bool
) -> list[ImportOutcome]:
    def is_wanted(kind: str) -> bool:
        return not args.only or kind in args.only

    record = ImportRecord(settings.home, program.name)
    try:
        findings = (one for one in program.findings() if is_wanted(kind_of(one)))
        brought = list(Importer(settings, record, console.environ, dry_run=dry_run).bring(findings))
        if program.hooks is not None and is_wanted("hook"):
            brought += import_hooks(program.hooks, settings, dry_run=dry_run)
        if is_wanted("session"):
            place = str(settings.cwd) if args.cwd else program.cwd
            carrier = SessionImporter(program.name, program.read, record, place, str(settings.cwd), dry_run)
            brought += asyncio.run(_bring_sessions(carrier, program, settings, console))
    finally:
        if not dry_run:
            record.keep()
    return brought


async def _bring_sessions(
    carrier: SessionImporter, program: SourceProgram, settings: Settings, console: Console
) -> list[ImportOutcome]:
    async with open_configured_store(console, str(settings.cwd)) as store:
        return [one async for one in carrier.bring(program.sources(program.folder), store)]
