"""The creation record of a session."""

from bridle.core.door import Door
from bridle.core.ids import SessionId
from bridle.core.protocol import SessionCreated


async def origin(door: Door, session: SessionId) -> SessionCreated:
    """Return the event that created a session; raises SessionNotFound."""
    [record] = await door.records(session, limit=1)
    assert isinstance(record.event, SessionCreated)
    return record.event
