"""Import sessions of other programs into the store, each at most once."""

import os
from collections.abc import AsyncIterator, Callable, Iterable

from msgspec import Struct

from bridle.config.foreign.record import Record
from bridle.config.keys import DEFAULT_AGENT
from bridle.config.kontekst_copy import Brought
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import DatedStore
from bridle.stores.foreign.reading import ForeignSession, Source
from bridle.surfaces.render import count
from bridle.surfaces.terminal import one_line


class Carrier(Struct, frozen=True):
    """Imports the sessions of one program."""

    program: str
    read: Callable[[Source], ForeignSession | None]
    record: Record
    place: str
    """The working directory for all sessions; empty keeps that of each."""
    fallback: str
    """The working directory for sessions whose own is gone."""
    dry_run: bool

    async def bring(self, sources: Iterable[Source], store: DatedStore) -> AsyncIterator[Brought]:
        """Import each session and yield its outcome; a failing one is left out, the others continue."""
        known = {summary.id for summary in await store.list(archived=True)}
        for source in sources:
            try:
                yield await self._one(source, known, store)
            except BridleError as error:
                yield Brought("session", one_line(source.key[:80]), "left out", error.message)

    async def _one(self, source: Source, known: set[SessionId], store: DatedStore) -> Brought:
        session, key = SessionId(f"{self.program}-{source.key}"), f"session {source.key}"
        if not is_session_id(session):
            return Brought(
                "session", one_line(source.key[:80]), "left out", "its name is not one for a session"
            )
        before = self.record.note_of(key)
        if session in known and before is None:
            return Brought("session", session, "already there")
        found = self.read(source)
        if found is None:
            return Brought("session", session, "left out", "no message is in it")
        messages = len(found.conversation.messages)
        if before is not None:
            return Brought("session", session, "already there", _grown(messages, before))
        if not self.dry_run:
            events = found.events(session, self._cwd(found), DEFAULT_AGENT)
            await store.append(session, 0, events, dates=found.conversation.dates)
            self.record.add(key, str(messages))
        return Brought("session", session, messages=messages, skipped=found.conversation.skipped)

    def _cwd(self, found: ForeignSession) -> str:
        if self.place:
            return self.place
        return found.cwd if os.path.isabs(found.cwd) and os.path.isdir(found.cwd) else self.fallback


def _grown(messages: int, before: str) -> str:
    more = messages - int(before) if before.isdecimal() else 0
    return f"{count(more, 'message')} came there since, and stay there" if more > 0 else ""
