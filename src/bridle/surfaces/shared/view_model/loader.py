"""Opens a view at the end of a session, or as of an earlier record, without reading the whole session.

```
seq   1 … 40 | 41 … 70   71 … 90   91      92 … 120      91 is Rewound(to_seq=70)
               ▲───────▲ (void)    ▲─────────────▲
               the page, read from its end; `before` is 40
```

A page begins at a boundary, a record before which every call has ended, so that calls keep their results.
"""

from collections.abc import Sequence

from msgspec import Struct

from bridle.core.errors import SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.protocol import (
    Checkpoint,
    MessageAdded,
    Record,
    Rewound,
    RunEnded,
    RunStarted,
    SessionCreated,
    TurnEnded,
    TurnStarted,
)
from bridle.core.queries import Records, Status
from bridle.core.session import Session
from bridle.core.session_api import SessionApi
from bridle.core.session_status import SessionStatus, make_session_status
from bridle.surfaces.shared.view_model.conversation import Conversation
from bridle.surfaces.shared.view_model.view import ViewModel
from bridle.surfaces.shared.view_model.view_types import ViewPage

PAGE_RECORDS = 300
MIN_SHARE = 5  # a page has at least this fraction (1/5) of its full size
MAX_READS = 16  # for one page: a turn of code may make thousands of calls


class _Tail(Struct, frozen=True):
    """The newest valid records up to a sequence number."""

    records: list[Record]
    before: int | None


async def open_view(
    api: SessionApi, session: SessionId, at: int | None = None, *, page: int = PAGE_RECORDS
) -> ViewModel:
    """Return the current view, or the view after record `at`; raises SessionNotFound."""
    status = await api.ask(Status(session))
    if at is not None and at < status.seq:
        status = await _status_at(api, session, at)
    tail = await _read_tail(api, session, status.seq, page)
    view = ViewModel(status, _conversation(tail.records), tail.before)
    view.read_earlier(tail.records)
    return view


async def load_older_items(
    api: SessionApi, session: SessionId, before: int, *, page: int = PAGE_RECORDS
) -> ViewPage:
    """Return the items before the loaded ones; `before` comes from the last page."""
    tail = await _read_tail(api, session, before, page)
    conversation = _conversation(tail.records)
    conversation.close()
    return ViewPage(conversation.items.in_order, tail.before)


def _conversation(records: Sequence[Record]) -> Conversation:
    conversation = Conversation()
    for record in records:
        conversation.add(record)
    return conversation


async def _read_tail(api: SessionApi, session: SessionId, upto: int, size: int) -> _Tail:
    """Read backward from a record to a boundary, skipping rewound records."""
    kept: list[Record] = []
    seq = upto
    for _ in range(MAX_READS):
        first = max(0, seq - size)
        page = await api.ask(Records(session, first, seq - first))
        for record in reversed(page):
            if record.seq <= seq:
                kept.append(record)
                seq = _before(record)
        if seq <= 0 or not page:
            return _Tail(kept[::-1], None)
        least = size // MIN_SHARE
        count = next((n for n in range(len(kept), least, -1) if _is_boundary(kept[n - 1])), 0)
        if count:
            return _Tail(kept[count - 1 :: -1], kept[count - 1].seq - 1)
    return _Tail(kept[::-1], seq)


def _before(record: Record) -> int:
    """Return the sequence number of the record before this one in the conversation."""
    event = record.event
    if isinstance(event, Rewound) and event.scope != "files":
        return min(event.to_seq, record.seq - 1)
    return record.seq - 1


def _is_boundary(record: Record) -> bool:
    return isinstance(record.event, TurnStarted | RunStarted | MessageAdded)


async def _status_at(api: SessionApi, session: SessionId, at: int) -> SessionStatus:
    """Return the session status after a record; a run that had not ended by then counts as running."""
    records: list[Record] = []
    size = PAGE_RECORDS
    while (start := _start(records)) is None:
        upto = records[0].seq - 1 if records else at
        first = max(0, upto - size)
        page = await api.ask(Records(session, first, upto - first))
        if not page:
            raise SessionNotFound(f'no session "{session}"', hint="bridle session list")
        records = page + records
        size *= 2
    return make_session_status(_folded(records, start), is_running=True)


def _start(records: Sequence[Record]) -> int | None:
    """Return the index where folding facts and run can start: before the last run's start or end."""
    edge = False
    for index in range(len(records) - 1, -1, -1):
        event = records[index].event
        if isinstance(event, SessionCreated) or (edge and isinstance(event, Checkpoint)):
            return index
        edge = edge or isinstance(event, RunStarted | RunEnded)
    return None


def _folded(records: Sequence[Record], start: int) -> Session:
    session = Session()
    for index, record in enumerate(records):
        if index >= start:
            session.apply(record)
        elif isinstance(record.event, TurnEnded):
            session.context = record.event.context
    return session
