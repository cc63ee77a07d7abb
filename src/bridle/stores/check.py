"""Prove that stored sessions are what was recorded, and mend what a crash left behind.

Each line carries the hash of its bytes and of the hash before it, so the check reads what is stored,
not what it decodes to. It cannot notice that somebody replaced all lines and computed every hash
again, nor that whole appends are missing at the end, unless a summary has seen them.
"""

from msgspec import Struct

from bridle.core.codec import GENESIS, decode_record, verify_line
from bridle.core.errors import StoreCorrupt
from bridle.core.ids import SessionId
from bridle.stores.lines import Flaw, LineStore, not_found

_OF_RECORDS = frozenset({"torn_tail", "truncated", "mislabelled"})  # summaries are derived and prove nothing


class Audit(Struct, frozen=True):
    """What a check of one session found."""

    session: SessionId
    records: int
    """How many records from the first one on are proven."""
    last_hash: str
    """The hash of the last of them: noted elsewhere, it proves the whole record later."""
    flaw: Flaw | None = None
    """The first thing that is wrong."""

    @property
    def ok(self) -> bool:
        """Tell whether the session is what was recorded."""
        return self.flaw is None

    @property
    def bad_seq(self) -> int | None:
        """Return the number of the first record that is wrong."""
        return self.flaw.seq if self.flaw else None


class Chain:
    """Follows the hash chain of one session, line by line, past errors."""

    def __init__(self, session: SessionId) -> None:
        self.seq = 0
        self.hash = GENESIS
        self._session = session
        self._is_linked = True

    def follow(self, line: bytes) -> Flaw | None:
        """Take the next line; return what is wrong with it."""
        expected = self.seq + 1
        is_linked, self._is_linked = self._is_linked, True
        verified = verify_line(self.hash, line)
        try:
            record = decode_record(line)
        except StoreCorrupt as error:
            self.seq, self._is_linked = expected, False
            return Flaw("unreadable_line", error.message, self._session, expected)
        self.seq, self.hash = record.seq, record.hash
        if record.seq != expected:
            return Flaw("gap", f"event {record.seq} stands where {expected} should", self._session, expected)
        if verified is None and is_linked:
            return Flaw("bad_hash", "it is not what was recorded", self._session, expected)
        return None


async def verify(store: LineStore, session: SessionId) -> Audit:
    """Check a session's stored bytes up to the first thing that is wrong; raises SessionNotFound."""
    chain = Chain(session)
    around = [flaw for flaw in await store.flaws(session) if flaw.kind in _OF_RECORDS]
    proven, last_hash = 0, GENESIS
    async for line in store.lines(session):
        flaw = chain.follow(line)
        if flaw is not None:
            return Audit(session, proven, last_hash, flaw)
        proven, last_hash = chain.seq, chain.hash
    if not proven and not around:
        raise not_found(session)
    return Audit(session, proven, last_hash, around[0] if around else None)


async def fsck(store: LineStore, *, repair: bool = False) -> list[Flaw]:
    """Return all that is wrong with every session; mend what can be mended without losing a record."""
    try:
        found = await store.flaws(repair=repair)
        for session in await store.ids():
            chain = Chain(session)
            found += [flaw async for line in store.lines(session) if (flaw := chain.follow(line))]
    except StoreCorrupt as error:  # nothing more can be read
        return [Flaw("damaged_file", error.message)]
    return found
