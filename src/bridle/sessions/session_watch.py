"""Watching a session: stored records first, then live ones, each record once and in order."""

from collections.abc import AsyncGenerator

from bridle.core.errors import SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.core.protocol import Delta, Lagged, Record
from bridle.sessions.bus import FRAGMENT_DELTAS, Bus


async def watch_session(
    store: Store, bus: Bus, session: SessionId, after: int | None, *, pieces: bool
) -> AsyncGenerator[Record | Delta, None]:
    """Yield every record after `after`, or from the newest one for None, with deltas between; never ends.

    Without `pieces`, skip deltas whose content is recorded later. Raises SessionNotFound, also once the
    session is deleted.
    """
    subscription = bus.subscribe(session, pieces=pieces)
    heard = bus.position(session)
    try:
        after = await _start(store, session, after)
        for record in await store.read(session, after=after):
            after = record.seq
            yield record
        heard = heard or after
        while True:
            dropped, items = await subscription.take()
            if dropped:
                yield Lagged(dropped)
                for record in await store.read(session, after=after):
                    after = record.seq
                    yield record
                heard = after
            for item in items:
                if isinstance(item, FRAGMENT_DELTAS) and heard < after:
                    continue  # a fragment of a record that was already read as a whole
                if isinstance(item, Record):
                    heard = item.seq
                    if item.seq <= after:
                        continue
                    if item.seq > after + 1:  # another process has appended records
                        for record in await store.read(session, after=after, before=item.seq):
                            yield record
                    after = item.seq
                yield item
            if subscription.is_over:
                raise session_not_found(session)
    finally:
        bus.unsubscribe(session, subscription)


async def _start(store: Store, session: SessionId, after: int | None) -> int:
    """Return the number of the record after which a watch begins; raises SessionNotFound."""
    found = await store.read(session, limit=1, newest=after is None)
    if not found:
        raise session_not_found(session)
    return found[0].seq - 1 if after is None else after


def session_not_found(session: SessionId) -> SessionNotFound:
    """Return the error for an unknown session."""
    return SessionNotFound(f'no session "{session}"', hint="bridle session list")
