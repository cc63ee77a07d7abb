"""`bridle import`: import the sessions and settings of Claude Code, Codex, Crush, Meerkat and Kontekst."""

import argparse
import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from bridle.config.foreign import claude as claude_settings
from bridle.config.foreign import codex as codex_settings
from bridle.config.foreign import crush as crush_settings
from bridle.config.foreign import meerkat as meerkat_settings
from bridle.config.foreign.findings import Finding, kind_of
from bridle.config.foreign.importer import BEFORE, Importer, ImportRecord, import_hooks
from bridle.config.import_files import RENAMED, BroughtKind, ImportOutcome, import_agents, import_skills
from bridle.config.keys import DEFAULT_AGENT
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import DatedStore
from bridle.stores.foreign import claude, codex, crush
from bridle.stores.foreign.json_files import ForeignSession, SourceFolder
from bridle.stores.kontekst_reader import list_sessions, read_file
from bridle.surfaces.cli.confirm import ask_confirmation
from bridle.surfaces.cli.output.data import print_json, write_table
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.shared.terminal import Console, one_line
from bridle.surfaces.shared.text_format import format_count

# ---------------------------------------------------------------------------- import sessions
# Import sessions of other programs into the store, each at most once.


class SessionImporter(Struct, frozen=True):
    """Imports the sessions of one program."""

    program: str
    read: Callable[[SourceFolder], ForeignSession | None]
    record: ImportRecord
    place: str
    """The working directory for all sessions; empty keeps that of each."""
    fallback: str
    """The working directory for sessions whose own is gone."""
    dry_run: bool

    async def run(self, sources: Iterable[SourceFolder], store: DatedStore) -> AsyncIterator[ImportOutcome]:
        """Import each session and yield its outcome; a failing one is left out, the others continue."""
        known = {summary.id for summary in await store.list(archived=True)}
        for source in sources:
            try:
                yield await self._one(source, known, store)
            except BridleError as error:
                yield ImportOutcome("session", one_line(source.key[:80]), "left out", error.message)

    async def _one(self, source: SourceFolder, known: set[SessionId], store: DatedStore) -> ImportOutcome:
        session, key = SessionId(f"{self.program}-{source.key}"), f"session {source.key}"
        if not is_session_id(session):
            return ImportOutcome(
                "session", one_line(source.key[:80]), "left out", "its name is not valid for a session"
            )
        before = self.record.get_note(key)
        if session in known and before is None:
            return ImportOutcome("session", session, "already there")
        found = self.read(source)
        if found is None:
            return ImportOutcome("session", session, "left out", "it has no messages")
        messages = len(found.conversation.messages)
        if before is not None:
            return ImportOutcome("session", session, "already there", _grown(messages, before))
        if not self.dry_run:
            events = found.events(session, self._cwd(found), DEFAULT_AGENT)
            await store.append(session, 0, events, dates=found.conversation.dates)
            self.record.add(key, str(messages))
        return ImportOutcome("session", session, messages=messages, skipped=found.conversation.skipped)

    def _cwd(self, found: ForeignSession) -> str:
        if self.place:
            return self.place
        return found.cwd if os.path.isabs(found.cwd) and os.path.isdir(found.cwd) else self.fallback


def _grown(messages: int, before: str) -> str:
    more = messages - int(before) if before.isdecimal() else 0
    return f"{format_count(more, 'message')} came there since, and stay there" if more > 0 else ""


# ---------------------------------------------------------------------------- import report
# Report an import to the user: a table of kinds, then each item that needs an explanation.


HEADINGS = ("KIND", "IMPORTED", "ALREADY THERE", "LEFT OUT", "NOTE")
MAX_SHOWN = 200
OUTCOMES: tuple[Literal["imported", "already there", "left out"], ...] = (
    "imported",
    "already there",
    "left out",
)


def print_import(outcomes: Sequence[ImportOutcome], console: Console, *, dry_run: bool) -> None:
    """Print what was imported, or what would be."""
    if dry_run:
        console.out.line("dry run: nothing was changed")
    write_table(console.out, HEADINGS, [_row(kind, outcomes) for kind in _kinds(outcomes)])
    lines = [line for one in outcomes for line in _lines(one)]
    for line in lines[:MAX_SHOWN]:
        console.out.line(line)
    if len(lines) > MAX_SHOWN:
        console.out.line(f"  and {len(lines) - MAX_SHOWN:,} more; --json has all")


def _kinds(outcomes: Sequence[ImportOutcome]) -> list[str]:
    here = {one.kind for one in outcomes}
    return [kind for kind in get_args(BroughtKind) if kind in here]


def _row(kind: str, outcomes: Sequence[ImportOutcome]) -> tuple[str, ...]:
    these = [one for one in outcomes if one.kind == kind]
    counted = Counter(one.outcome for one in these)
    messages = sum(one.messages for one in these)
    counts = [f"{counted[outcome]:,}" for outcome in OUTCOMES]
    return (f"{kind}s", *counts, format_count(messages, "message") if messages else "")


def _lines(one: ImportOutcome) -> list[str]:
    lines = []
    if one.kind in ("rule", "server", "hook", "setting") and one.outcome == "imported":
        lines.append(f"  {one.kind} {one_line(one.name)}{f': {one_line(one.why)}' if one.why else ''}")
    elif one.why and one.why != BEFORE:
        lines.append(f"  {one.kind} {one_line(one.name)}: {one.outcome}: {one_line(one.why)}")
    return lines + _skipped_lines(one)


def _skipped_lines(one: ImportOutcome) -> list[str]:
    return [
        f"  {one.kind} {one.name}: {format_count(times, 'line')} left out: {reason}"
        for reason, times in one.skipped.items()
    ]


# ---------------------------------------------------------------------------- import others


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
    state = _folder(console.environ.get("XDG_DATA_HOME") or "~/.local/share", console) / "crush/crush.json"
    program = SourceProgram(
        "crush",
        folder,
        crush.sources,
        crush.read,
        lambda: crush_settings.findings(state, own, folder),
        cwd=str(folder),
    )
    return _import(program, args, console)


def import_meerkat(args: argparse.Namespace, console: Console) -> int:
    """Import Meerkat's settings of one project and its user."""
    folder = _folder(args.folder or ".", console)
    configs = _folder(console.environ.get("XDG_CONFIG_HOME") or "~/.config", console)
    own = (configs / "meerkat", _folder(f"~/{meerkat_settings.FOLDER}", console))
    if not any(one.is_dir() for one in own):
        _must_have(folder, (meerkat_settings.LOCAL_FILE, meerkat_settings.FOLDER), "Meerkat")
    program = SourceProgram(
        "meerkat",
        folder,
        lambda _: [],
        lambda _: None,
        lambda: meerkat_settings.findings(own, folder),
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
        outcomes = _import_kinds(program, settings, args, console, dry_run=True)
        _show(outcomes, args, console, dry_run=True)
        if args.dry_run or not any(one.outcome == "imported" for one in outcomes):
            return 0
        if not ask_confirmation(console, "import this?", without="", hint=""):
            return 0
    _show(_import_kinds(program, settings, args, console, dry_run=False), args, console, dry_run=False)
    return 0


def _show(
    outcomes: list[ImportOutcome], args: argparse.Namespace, console: Console, *, dry_run: bool
) -> None:
    if args.json:
        print_json(console.out, outcomes)
    else:
        print_import(outcomes, console, dry_run=dry_run)


def _import_kinds(
    program: SourceProgram, settings: Settings, args: argparse.Namespace, console: Console, *, dry_run: bool
) -> list[ImportOutcome]:
    def is_wanted(kind: str) -> bool:
        return not args.only or kind in args.only

    record = ImportRecord(settings.home, program.name)
    try:
        findings = (one for one in program.findings() if is_wanted(kind_of(one)))
        outcomes = list(Importer(settings, record, console.environ, dry_run=dry_run).bring(findings))
        if program.hooks is not None and is_wanted("hook"):
            outcomes += import_hooks(program.hooks, settings, dry_run=dry_run)
        if is_wanted("session"):
            place = str(settings.cwd) if args.cwd else program.cwd
            importer = SessionImporter(program.name, program.read, record, place, str(settings.cwd), dry_run)
            outcomes += asyncio.run(_import_sessions(importer, program, settings, console))
    finally:
        if not dry_run:
            record.keep()
    return outcomes


async def _import_sessions(
    importer: SessionImporter, program: SourceProgram, settings: Settings, console: Console
) -> list[ImportOutcome]:
    async with open_configured_store(console, str(settings.cwd)) as store:
        return [one async for one in importer.run(program.sources(program.folder), store)]


# ---------------------------------------------------------------------------- Kontekst


FOLDERS = ("agents", "skills", "sessions")


def import_kontekst(args: argparse.Namespace, console: Console) -> int:
    """Import the agents, skills and sessions of a Kontekst data directory."""
    source = Path(args.folder).expanduser()
    if not any((source / name).is_dir() for name in FOLDERS):
        raise UsageError(
            f"{args.folder} is not a data directory of Kontekst: it has no {', '.join(FOLDERS)}",
            hint="it is usually ~/.kontekst",
        )
    cwd = Path(args.cwd or resolve_directory()).absolute()
    settings = load_settings(console.environ, cwd)
    if settings.kontekst is not None:
        raise UsageError(f"{settings.home} lies beside {settings.kontekst.data_dir} and uses it already")
    imported = asyncio.run(_import_kontekst_kinds(source, settings, console, dry_run=args.dry_run))
    if args.json:
        print_json(console.out, imported)
        return 0
    for line in _summary(imported, dry_run=args.dry_run):
        console.out.line(line)
    if (source / "commands").is_dir():
        console.warn("commands are skipped: Bridle has none; a skill can say what to run")
    return 0


async def _import_kontekst_kinds(
    source: Path, settings: Settings, console: Console, *, dry_run: bool
) -> list[ImportOutcome]:
    imported = list(import_agents(source, settings.written, dry_run=dry_run))
    imported += import_skills(source, settings.written, dry_run=dry_run)
    async with open_configured_store(console, str(settings.cwd)) as store:
        async for session in _sessions(source / "sessions", store, str(settings.cwd), dry_run=dry_run):
            imported.append(session)
    return imported


async def _sessions(
    folder: Path, store: DatedStore, cwd: str, *, dry_run: bool
) -> AsyncIterator[ImportOutcome]:
    known = {summary.id for summary in await store.list(archived=True)}
    for session in list_sessions(folder):
        if session in known:
            yield ImportOutcome("session", session, "already there")
            continue
        try:
            yield await _session(folder, session, store, cwd, dry_run=dry_run)
        except BridleError as error:
            yield ImportOutcome("session", one_line(session), "left out", error.message)


async def _session(
    folder: Path, session: SessionId, store: DatedStore, cwd: str, *, dry_run: bool
) -> ImportOutcome:
    if not is_session_id(session):
        return ImportOutcome("session", one_line(session), "left out", "its name is not valid for a session")
    found = read_file(folder, session)
    if found is None:
        return ImportOutcome("session", session, "left out", "it has no messages")
    found = replace(found, agent=RENAMED.get(found.agent, found.agent))
    conversation = found.conversation
    if not dry_run:
        await store.append(session, 0, found.events(session, cwd), dates=found.dates)
    return ImportOutcome(
        "session", session, messages=len(conversation.messages), skipped=dict(conversation.skipped)
    )


def _summary(imported: Iterable[ImportOutcome], *, dry_run: bool) -> list[str]:
    lines = ["dry run: nothing was changed"] if dry_run else []
    for kind in ("agent", "skill", "session"):
        these = [one for one in imported if one.kind == kind]
        outcomes = Counter(one.outcome for one in these)
        messages = sum(one.messages for one in these)
        parts = [f"{outcomes[outcome]:,} {outcome}" for outcome in OUTCOMES if outcomes[outcome]]
        parts += [format_count(messages, "message")] if messages else []
        lines.append(f"{kind + 's':<9} {', '.join(parts) or 'none'}")
    for one in imported:
        if one.why:
            lines.append(f"  {one.kind} {one.name}: {one_line(one.why)}")
        lines += _skipped_lines(one)
    return lines
