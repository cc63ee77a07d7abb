"""Check that stored sessions hold what was recorded, and repair what a crash left behind.

Each line carries a hash of its bytes and of the hash before it, so the check reads the stored bytes, not
what they decode to. It cannot detect that all lines were replaced and every hash was recomputed, nor that
whole appends are missing at the end, unless a summary counted them.
"""

from msgspec import Struct

from bridle.core.codec import GENESIS, decode_record, verify_line
from bridle.core.errors import StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import Record
from bridle.stores.blob_check import BlobCheck
from bridle.stores.record_lines import Flaw, LineStore, not_found_error

_OF_RECORDS = frozenset({"torn_tail", "truncated", "mislabelled"})  # summaries are derived and prove nothing


class SessionCheck(Struct, frozen=True):
    """The result of checking one session."""

    session: SessionId
    records: int
    """Number of records proven intact, counted from the first."""
    last_hash: str
    """Hash of the last proven record; a copy kept elsewhere proves all records up to it later."""
    flaw: Flaw | None = None
    """The first flaw in the session's records."""
    blobs: tuple[Flaw, ...] = ()
    """Blobs that the records name and that are missing or damaged."""

    @property
    def ok(self) -> bool:
        """True if the session holds exactly what was recorded."""
        return self.flaw is None and not self.blobs


class HashChain:
    """Follows the hash chain of one session line by line, and continues after errors."""

    def __init__(self, session: SessionId) -> None:
        self.seq = 0
        self.hash = GENESIS
        self.record: Record | None = None
        """The record of the last line, or None if that line cannot be decoded."""
        self._session = session
        self._is_linked = True

    def follow(self, line: bytes) -> Flaw | None:
        """Check the next line and return its flaw, if it has one."""
        expected = self.seq + 1
        is_linked, self._is_linked = self._is_linked, True
        verified = verify_line(self.hash, line)
        self.record = None
        try:
            self.record = record = decode_record(line)
        except StoreCorrupt as error:
            self.seq, self._is_linked = expected, False
            return Flaw("unreadable_line", error.message, self._session, expected)
        self.seq, self.hash = record.seq, record.hash
        if record.seq != expected:
            return Flaw(
                "gap", f"found event {record.seq} where {expected} was expected", self._session, expected
            )
        if verified is None and is_linked:
            return Flaw("bad_hash", "it differs from what was recorded", self._session, expected)
        return None


async def verify(store: LineStore, session: SessionId, blobs: BlobCheck | None = None) -> SessionCheck:
    """Check a session's stored bytes up to the first flaw, and the blobs they name.

    Raises SessionNotFound.
    """
    chain = HashChain(session)
    bad_blobs: list[Flaw] = []
    around = [flaw for flaw in await store.flaws(session) if flaw.kind in _OF_RECORDS]
    proven, last_hash = 0, GENESIS
    async for line in store.lines(session):
        flaw = chain.follow(line)
        if flaw is not None:
            return SessionCheck(session, proven, last_hash, flaw, tuple(bad_blobs))
        proven, last_hash = chain.seq, chain.hash
        bad_blobs += await _blob_flaws(chain, session, blobs)
    if not proven and not around:
        raise not_found_error(session)
    return SessionCheck(session, proven, last_hash, around[0] if around else None, tuple(bad_blobs))


async def fsck(store: LineStore, blobs: BlobCheck | None = None, *, repair: bool = False) -> list[Flaw]:
    """Return every flaw of every session; with `repair`, fix what can be fixed without losing a record."""
    try:
        found = await store.flaws(repair=repair)
        for session in await store.ids():
            chain = HashChain(session)
            async for line in store.lines(session):
                flaw = chain.follow(line)
                found += [flaw] if flaw is not None else []
                found += await _blob_flaws(chain, session, blobs)
    except StoreCorrupt as error:  # nothing more can be read
        return [Flaw("damaged_file", error.message)]
    return found


async def _blob_flaws(chain: HashChain, session: SessionId, blobs: BlobCheck | None) -> list[Flaw]:
    """Check the blobs that the chain's last line names."""
    if blobs is None or chain.record is None:
        return []
    return await blobs.flaws(session, chain.record.seq, chain.record.event)
