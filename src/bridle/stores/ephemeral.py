"""A store in memory, for tests and for runs that should leave nothing behind."""

from collections.abc import AsyncIterator, Sequence

from bridle.core.codec import GENESIS, decode_record
from bridle.core.ids import SessionId
from bridle.core.ports import Clock
from bridle.core.protocol import Event, Record
from bridle.core.summary import SessionSummary, summarise
from bridle.stores.record_lines import (
    Flaw,
    check_expected,
    check_id,
    decode_lines,
    encode_chain,
    not_found_error,
    select_seqs,
    sort_summaries,
)


class EphemeralStore:
    """Stores lines in a dictionary, encoded as in the other stores so that it behaves the same."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: dict[SessionId, list[bytes]] = {}
        self._summaries: dict[SessionId, SessionSummary] = {}

    async def append(
        self,
        session: SessionId,
        expected_seq: int,
        events: Sequence[Event],
        *,
        dates: Sequence[int] = (),
    ) -> list[Record]:
        """Append events after `expected_seq`; raises SessionConflict."""
        check_id(session)
        lines = self._lines.get(session, [])
        check_expected(session, expected_seq, len(lines))
        prev_hash = decode_record(lines[-1]).hash if lines else GENESIS
        records, added = encode_chain(prev_hash, expected_seq + 1, self._clock.now_ms(), events, dates)
        for record in records:
            self._summaries[session] = summarise(self._summaries.get(session), session, record)
        if added:
            self._lines.setdefault(session, lines).extend(added)
        return records

    async def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """Return the requested records, oldest first."""
        lines = self._lines.get(session, [])
        seqs = select_seqs(len(lines), after=after, before=before, limit=limit, newest=newest)
        return await decode_lines(session, lines[seqs.start - 1 : seqs.stop - 1], seqs)

    async def ids(self) -> list[SessionId]:
        """Return the id of every session."""
        return sorted(self._lines)

    async def lines(self, session: SessionId) -> AsyncIterator[bytes]:
        """Yield a session's lines."""
        for line in self._lines.get(session, []):
            yield line

    async def flaws(self, session: SessionId | None = None, *, repair: bool = False) -> list[Flaw]:
        """Return an empty list: there is no file that could be damaged."""
        return []

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session, newest first."""
        return sort_summaries(self._summaries.values(), archived=archived)

    async def delete(self, session: SessionId) -> None:
        """Delete a session; raises SessionNotFound."""
        if self._lines.pop(session, None) is None:
            raise not_found_error(session)
        del self._summaries[session]

    async def aclose(self) -> None:
        """Do nothing: stored records stay readable for the lifetime of the object."""
