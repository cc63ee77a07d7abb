"""The JSON export: everything stored of a session, in one document."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from bridle.core.protocol import Record
from bridle.core.session import fold
from bridle.core.summary import SessionSummary, summarise

VERSION = 1


class ExportDocument(Struct, frozen=True):
    """The content of the JSON export."""

    version: int
    session: SessionSummary
    records: Sequence[Record]


def to_json(records: Sequence[Record]) -> str:
    """Return everything stored of a session as JSON."""
    summary: SessionSummary | None = None
    session_id = fold(records).known.created.session_id
    for record in records:
        summary = summarise(summary, session_id, record)
    assert summary is not None, "a session has at least its creation"
    document = msgspec.json.encode(ExportDocument(VERSION, summary, records))
    return msgspec.json.format(document, indent=2).decode() + "\n"
