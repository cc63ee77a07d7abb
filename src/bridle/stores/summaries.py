"""The line of a session in a list, as databases keep it beside the records."""

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
"""The events that `summarise` looks into; a test holds this against core."""


def changes_summary(events: Sequence[Event]) -> bool:
    """Tell whether events change more of a summary than its date and number."""
    return any(isinstance(event, _SUMMARISED) for event in events)


def decode_summary(data: bytes) -> SessionSummary | None:
    """Return a stored summary; None for one that cannot be read."""
    try:
        return msgspec.json.decode(data, type=SessionSummary)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
