"""Event formats: ways to encode a session's records and deltas as server-sent events.

```
id: 12                  the record's number, on the last event of a record
event: tool_started
data: {"seq":12,…}

event: text_delta       deltas have no number: a client cannot resume at one
data: {"type":"text_delta","text":"Hel"}
```
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Record
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi

PAGE = 500  # records read at once

Frame = tuple[str, bytes]
"""The name of an event and its data, one line of JSON."""
Translate = Callable[[Record | Delta], Sequence[Frame]]


class EventEncoder(Protocol):
    """Encodes the records and deltas of one session, in order."""

    @property
    def is_void(self) -> bool:
        """True if the events sent so far are invalid: a new encoder must start after the last record."""
        ...

    def encode_item(self, item: Record | Delta) -> Sequence[Frame]:
        """Process the next record or delta and return the events to send now; some may be held back."""
        ...

    def release(self) -> Sequence[Frame]:
        """Return the events held back."""
        ...

    def welcome(self) -> Sequence[Frame]:
        """Return the first events for a client that has seen all records but nothing else."""
        ...


class EventFormat(Struct, frozen=True):
    """An event format; watchers of one session in the same format share the encoded events."""

    name: str
    begin: Callable[[SessionId], Translate] = lambda session: _say
    """Creates a translator, which gets records and deltas in order."""
    remembers: bool = False
    """True if the events of a record depend on earlier ones: the translator gets all records from the
    session's first, and the events of those that the client has seen are dropped.
    """
    open: Callable[[SessionApi, SessionId, int], Awaitable[EventEncoder]] | None = None
    """Creates an encoder that continues after a record, for a format that does not need all earlier ones."""
    missed: Frame | None = None
    """The event for a client that was too slow, if it must discard everything it received."""
    hold_s: float = 0.0
    """How long events may be held back."""


class _Plain(Struct):
    """Encodes each item at once."""

    encode_item: Translate
    is_void: bool = False

    def release(self) -> Sequence[Frame]:
        return ()

    def welcome(self) -> Sequence[Frame]:
        return ()


def _say(item: Record | Delta) -> Sequence[Frame]:
    kind = item.event if isinstance(item, Record) else item
    return ((str(type(kind).__struct_config__.tag), encode(item)),)


OURS = EventFormat("bridle")
"""Records and deltas unchanged, each as one event named by its type."""


async def open_encoder(
    api: SessionApi, session: SessionId, event_format: EventFormat, upto: int
) -> EventEncoder:
    """Return an encoder that continues after a record; raises SessionNotFound."""
    if event_format.open is not None:
        return await event_format.open(api, session, upto)
    translate = event_format.begin(session)
    seq = 0 if event_format.remembers else upto
    while seq < upto and (page := await api.ask(Records(session, seq, min(PAGE, upto - seq)))):
        for record in page:
            translate(record)
        seq = page[-1].seq
    return _Plain(translate)


def event_bytes(frames: Sequence[Frame], seq: int | None = None) -> bytes:
    """Return the bytes of events; the last one carries the number, so that resuming loses none."""
    events = [b"event: %b\ndata: %b\n\n" % (name.encode(), data) for name, data in frames]
    if events and seq is not None:
        events[-1] = b"id: %d\n%b" % (seq, events[-1])
    return b"".join(events)


def item_bytes(item: Record | Delta, frames: Sequence[Frame]) -> bytes:
    """Return the bytes of the events of a record or delta."""
    return event_bytes(frames, item.seq if isinstance(item, Record) else None)
