"""Ways to tell what happens in a session as server-sent events, and the bytes of one.

```
id: 12                  a record's number, with the last event that a record is told by
event: tool_started
data: {"seq":12,…}

event: text_delta       deltas have no number: they cannot be resumed at
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

PAGE = 500  # records that are read at once

Frame = tuple[str, bytes]
"""The name of an event and its data, one line of JSON."""
Translate = Callable[[Record | Delta], Sequence[Frame]]


class Teller(Protocol):
    """Tells what happens in one session; it is fed with that in its order."""

    @property
    def is_void(self) -> bool:
        """Tell whether what it said holds no longer: another one has to begin after the last record."""
        ...

    def tell(self, item: Record | Delta) -> Sequence[Frame]:
        """Take in what happens next and return what is to be said now; some of it may be held back."""
        ...

    def release(self) -> Sequence[Frame]:
        """Return what was held back."""
        ...

    def welcome(self) -> Sequence[Frame]:
        """Return what somebody has to be told first who has heard of all records, and of nothing else."""
        ...


class Speech(Struct, frozen=True):
    """A way to tell what happens; watchers of one session and one speech share what was encoded."""

    name: str
    begin: Callable[[SessionId], Translate] = lambda session: _say
    """Makes a translator, which is fed what happens in its order."""
    remembers: bool = False
    """What it says of a record depends on earlier ones: it is fed all of them from the session's first, and
    what it says of those that the client has seen is dropped."""
    open: Callable[[SessionApi, SessionId, int], Awaitable[Teller]] | None = None
    """Makes a teller that goes on after a record, for a speech that can do that by itself."""
    missed: Frame | None = None
    """What a client is told that was too slow, if all that it has heard is void then."""
    hold_s: float = 0.0
    """For how long something may be held back."""


class _Plain(Struct):
    """Tells everything at once."""

    tell: Translate
    is_void: bool = False

    def release(self) -> Sequence[Frame]:
        return ()

    def welcome(self) -> Sequence[Frame]:
        return ()


def _say(item: Record | Delta) -> Sequence[Frame]:
    kind = item.event if isinstance(item, Record) else item
    return ((str(type(kind).__struct_config__.tag), encode(item)),)


OURS = Speech("bridle")
"""Records and deltas as they are, each as an event that is named by its type."""


async def teller(api: SessionApi, session: SessionId, speech: Speech, upto: int) -> Teller:
    """Return a teller that goes on after a record; raises SessionNotFound."""
    if speech.open is not None:
        return await speech.open(api, session, upto)
    translate = speech.begin(session)
    seq = 0 if speech.remembers else upto
    while seq < upto and (page := await api.ask(Records(session, seq, min(PAGE, upto - seq)))):
        for record in page:
            translate(record)
        seq = page[-1].seq
    return _Plain(translate)


def event_bytes(frames: Sequence[Frame], seq: int | None = None) -> bytes:
    """Return the bytes of events; the last one carries the number, so that none is lost by resuming."""
    told = [b"event: %b\ndata: %b\n\n" % (name.encode(), data) for name, data in frames]
    if told and seq is not None:
        told[-1] = b"id: %d\n%b" % (seq, told[-1])
    return b"".join(told)


def item_bytes(item: Record | Delta, frames: Sequence[Frame]) -> bytes:
    """Return the bytes of the events that a record or a delta is told by."""
    return event_bytes(frames, item.seq if isinstance(item, Record) else None)
