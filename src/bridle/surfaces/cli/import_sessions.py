"""Import sessions of other programs into the store, each at most once."""

import os
from collections.abc import AsyncIterator, Callable, Iterable

from msgspec import Struct

from bridle.config.foreign.import_record import ImportRecord
from bridle.config.import_files import ImportOutcome
from bridle.config.keys import DEFAULT_AGENT
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import DatedStore
from bridle.stores.foreign.json_files import ForeignSession, SourceFolder
from bridle.surfaces.terminal import one_line
from bridle.surfaces.text_format import format_count


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

    async def bring(self, sources: Iterable[SourceFolder], store: DatedStore) -> AsyncIterator[ImportOutcome]:
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
