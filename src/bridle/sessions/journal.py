"""The journal of one session: events are staged, appended in one step, and only then published.

```
stage(event) ─▶ the fold has it at once      flush() ─▶ store.append ─▶ bus.publish
```

Staging lets the driver decide on the newest state while a whole step costs one append. No watcher sees an
event before it is durable. If the append fails, the journal is unusable and the session is loaded again from
the store.
"""

import asyncio
from collections.abc import Callable

from bridle.core.errors import SessionNotFound, StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Clock, Store
from bridle.core.protocol import Checkpoint, Delta, Event, Record, Rewound, RunEnded, RunStarted
from bridle.core.session import Session, fold
from bridle.core.transcript import drop_rewound, transcript_of
from bridle.sessions.bus import Bus

OPEN_TOKENS = 256_000  # the largest common window; older messages stay in the store
FIRST_CHUNK = 32  # records; doubled each time, which suits both large and small records


class Journal:
    """The live state of one session, and the only way to add to it."""

    def __init__(self, session_id: SessionId, session: Session, store: Store, bus: Bus, clock: Clock) -> None:
        self.id = session_id
        self.session = session
        self._store = store
        self._bus = bus
        self._clock = clock
        self.is_stale = False
        """True if the fold and the store differ: load the session again."""
        self._failure: StoreError | None = None
        self._staged: list[Event] = []
        self._durable_seq = session.seq
        self._appending = asyncio.Lock()  # invariant: records are appended and published in seq order

    def stage(self, *events: Event) -> None:
        """Apply events to the fold; the next flush makes them durable."""
        for event in events:
            self._staged.append(event)
            self.session.apply(Record(self.session.seq + 1, self._clock.now_ms(), event, ""))

    async def flush(self) -> None:
        """Make all staged events durable in one append, then publish them.

        Raises StoreError, also if an earlier append failed: the staged events may depend on the lost ones.
        """
        async with self._appending:
            if self.is_stale:
                raise _stale_error(self.id, self._failure)
            if not self._staged:
                return
            events, self._staged = self._staged, []
            self.is_stale = True
            try:
                records = await self._store.append(self.id, self._durable_seq, events)
            except StoreError as error:
                self._failure = error
                raise
            self.is_stale = False
            self._durable_seq += len(records)
            self._bus.publish(self.id, records)

    async def record(self, *events: Event) -> None:
        """Stage and flush."""
        self.stage(*events)
        await self.flush()

    async def record_whole(self, *events: Event) -> None:
        """Record events and finish even if cancelled: half an append would make the journal unusable."""
        recording = asyncio.ensure_future(self.record(*events))
        try:
            await asyncio.shield(recording)
        except asyncio.CancelledError:
            await asyncio.wait([recording])
            raise

    async def has_failed(self) -> bool:
        """Return whether an append has failed, after waiting for the current one."""
        async with self._appending:
            return self.is_stale

    def show(self, delta: Delta) -> None:
        """Publish a delta."""
        self._bus.show(self.id, delta)

    def announce(self) -> None:
        """Notify session lists that this session has started or stopped running."""
        self._bus.announce(self.id)

    @property
    def is_settled(self) -> bool:
        """True if the fold matches the store exactly."""
        return not (self._staged or self.is_stale)

    async def catch_up(self) -> None:
        """Apply what other processes appended since the last read."""
        records = await self._store.read(self.id, after=self._durable_seq)
        if any(isinstance(record.event, Rewound) for record in records):
            await self.reload()
            return
        for record in records:
            self.session.apply(record)
            self._durable_seq = record.seq

    async def reload(self) -> None:
        """Load the session again from the store, which a rewind requires."""
        self.session = await open_session(self._store, self.id)
        self._durable_seq = self.session.seq


async def open_journal(session_id: SessionId, store: Store, bus: Bus, clock: Clock) -> Journal:
    """Load as much of a session as its next turn can use; raises SessionNotFound."""
    return Journal(session_id, await open_session(store, session_id), store, bus, clock)


async def open_session(store: Store, session_id: SessionId) -> Session:
    """Fold as much of a session as its next turn can use; raises SessionNotFound."""
    records = await read_tail(store, session_id, OPEN_TOKENS)
    if not records:
        raise SessionNotFound(f'no session "{session_id}"', hint="bridle session list")
    return fold(records)


async def open_without_messages(store: Store, session_id: SessionId) -> Session:
    """Fold everything of a session but its messages; raises SessionNotFound."""
    records = await _read_back(store, session_id, _is_enough_without_messages)
    if not records:
        raise SessionNotFound(f'no session "{session_id}"', hint="bridle session list")
    return fold(records)


def _is_enough_without_messages(records: list[Record]) -> bool:
    kinds = {type(record.event) for record in records}
    return Checkpoint in kinds and not kinds.isdisjoint((RunStarted, RunEnded))


async def read_tail(store: Store, session_id: SessionId, tokens: int) -> list[Record]:
    """Return the newest records, back to a Checkpoint and to all messages that count.

    Those are live messages of `tokens` tokens in all, or what a compaction has left.
    """

    def is_enough(records: list[Record]) -> bool:
        has_checkpoint = any(isinstance(record.event, Checkpoint) for record in records)
        return has_checkpoint and _is_enough(records, tokens)

    return await _read_back(store, session_id, is_enough)


async def _read_back(
    store: Store, session_id: SessionId, is_enough: Callable[[list[Record]], bool]
) -> list[Record]:
    records: list[Record] = []
    size = FIRST_CHUNK
    while True:
        before = records[0].seq if records else None
        chunk = await store.read(session_id, before=before, limit=size, newest=True)
        size *= 2
        records = chunk + records
        if not chunk or chunk[0].seq == 1 or is_enough(records):
            return records


def _is_enough(records: list[Record], tokens: int) -> bool:
    transcript = transcript_of(drop_rewound(records))
    return transcript.is_whole or sum(item.tokens for item in transcript.messages) >= tokens


def _stale_error(session: SessionId, why: StoreError | None) -> StoreError:
    """Return the error for any append after a failed one."""
    cause = f": {why.message}" if why is not None else ""
    return StoreError(
        f"session {session} must be reloaded: an earlier write to it failed{cause}",
        hint=why.hint if why is not None else "",
    )
