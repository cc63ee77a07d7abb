"""Session summaries: one line of a session list, updated with every record."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.protocol import (
    MessageAdded,
    Outcome,
    Record,
    RunEnded,
    RunStarted,
    SessionArchived,
    SessionCreated,
    SessionLabelled,
    SessionTitled,
)

TITLE_CHARS = 60
TITLE_INSTRUCTION = (
    "Write a title for a conversation that begins with the text below. "
    "At most six words, in the language of the text, no quotes, nothing else."
)
"""The system text of a request for a title."""


class SessionSummary(Struct, frozen=True, omit_defaults=True):
    """One line of a session list."""

    id: SessionId
    title: str
    cwd: str
    agent: str
    created_at: int
    updated_at: int
    last_seq: int
    archived: bool = False
    parent: SessionId | None = None
    unfinished: bool = False
    """True if the end of a run is not recorded: it is active, or it was interrupted."""
    outcome: Outcome | None = None
    """How the last run ended; None during a run and before the first."""
    sub_agent: bool = False
    """True if a run of its parent started it; False for a user's fork."""
    labels: dict[str, str] = {}


def summarise(summary: SessionSummary | None, session: SessionId, record: Record) -> SessionSummary:
    """Return a session's summary after one more record."""
    event = record.event
    if summary is None:
        summary = SessionSummary(session, "", "", "", record.at, record.at, record.seq)
    summary = replace(summary, updated_at=record.at, last_seq=record.seq)
    match event:
        case SessionCreated():
            is_child = event.parent is not None and event.forked_at is None
            summary = replace(
                summary, title=event.title, cwd=event.cwd, agent=event.agent, labels=event.labels
            )
            return replace(summary, parent=event.parent, sub_agent=is_child)
        case SessionTitled():
            return replace(summary, title=event.title)
        case SessionLabelled():
            return replace(summary, labels=event.labels)
        case SessionArchived():
            return replace(summary, archived=event.archived)
        case MessageAdded() if event.message.role == "user" and not summary.title:
            return replace(summary, title=title_from(event.message.text))
        case RunStarted():
            return replace(summary, unfinished=True, outcome=None)
        case RunEnded():
            return replace(summary, unfinished=False, outcome=event.outcome)
        case _:
            return summary


def has_labels(summary: SessionSummary, wanted: Mapping[str, str | None]) -> bool:
    """Return True if a session has all of these labels."""
    return wanted.items() <= summary.labels.items()


def title_from(text: str) -> str:
    """Make a title from a prompt: its first non-empty line, cut at a word."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= TITLE_CHARS:
        return line
    return line[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
