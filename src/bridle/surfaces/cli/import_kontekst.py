"""`bridle import kontekst`: import the agents, skills and sessions of a Kontekst data directory."""

import argparse
import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Literal

from msgspec import json
from msgspec.structs import replace

from bridle.config.import_files import RENAMED, ImportOutcome, import_agents, import_skills
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import DatedStore
from bridle.stores.kontekst_reader import list_sessions, read_file
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.cli.store_access import open_configured_store
from bridle.surfaces.shared.terminal import Console, one_line
from bridle.surfaces.shared.text_format import format_count

FOLDERS = ("agents", "skills", "sessions")
OUTCOMES: tuple[Literal["imported", "already there", "left out"], ...] = (
    "imported",
    "already there",
    "left out",
)


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
    brought = asyncio.run(_bring(source, settings, console, dry_run=args.dry_run))
    if args.json:
        console.out.json(json.format(json.encode(brought), indent=2))
        return 0
    for line in _summary(brought, dry_run=args.dry_run):
        console.out.line(line)
    if (source / "commands").is_dir():
        console.warn("commands are skipped: Bridle has none; a skill can say what to run")
    return 0


async def _bring(source: Path, settings: Settings, console: Console, *, dry_run: bool) -> list[ImportOutcome]:
    brought = list(import_agents(source, settings.written, dry_run=dry_run))
    brought += import_skills(source, settings.written, dry_run=dry_run)
    async with open_configured_store(console, str(settings.cwd)) as store:
        async for session in _sessions(source / "sessions", store, str(settings.cwd), dry_run=dry_run):
            brought.append(session)
    return brought


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


def _summary(brought: Iterable[ImportOutcome], *, dry_run: bool) -> list[str]:
    lines = ["dry run: nothing was changed"] if dry_run else []
    for kind in ("agent", "skill", "session"):
        these = [one for one in brought if one.kind == kind]
        outcomes = Counter(one.outcome for one in these)
        messages = sum(one.messages for one in these)
        parts = [f"{outcomes[outcome]:,} {outcome}" for outcome in OUTCOMES if outcomes[outcome]]
        parts += [format_count(messages, "message")] if messages else []
        lines.append(f"{kind + 's':<9} {', '.join(parts) or 'none'}")
    for one in brought:
        if one.why:
            lines.append(f"  {one.kind} {one.name}: {one_line(one.why)}")
        lines += [
            f"  {one.kind} {one.name}: {format_count(times, 'line')} left out: {reason}"
            for reason, times in one.skipped.items()
        ]
    return lines
