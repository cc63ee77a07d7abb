"""Session summaries as the databases store them next to the records."""

from collections.abc import Sequence

import msgspec

from bridle.core.protocol import (
    Event,
    MessageAdded,
    RunEnded,
    RunStarted,
    SessionArchived,
    SessionCreated,
    SessionTitled,
)
from bridle.core.summary import SessionSummary

_SUMMARISED = (SessionCreated, SessionTitled, SessionArchived, MessageAdded, RunStarted, RunEnded)
"""The events that `summarise` uses; a test compares this tuple with core."""


def changes_summary(events: Sequence[Event]) -> bool:
    """Return True if the events change a summary in more than its date and sequence number."""
    return any(isinstance(event, _SUMMARISED) for event in events)


def decode_summary(data: bytes) -> SessionSummary | None:
    """Decode a stored summary; return None if it cannot be decoded."""
    try:
        return msgspec.json.decode(data, type=SessionSummary)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
