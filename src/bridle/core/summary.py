"""One line for each session: what a list of sessions shows, kept up to date with every record."""

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
    SessionTitled,
)

TITLE_CHARS = 60


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
    """A run was started and its end is not recorded: it is active, or it was cut off."""
    outcome: Outcome | None = None
    """How the last run ended; None while one is active and before the first."""
    sub_agent: bool = False
    """A run of its parent has started it; a fork that a person has made is none."""


def summarise(summary: SessionSummary | None, session: SessionId, record: Record) -> SessionSummary:
    """Return a session's line in the list after one more record."""
    event = record.event
    if summary is None:
        summary = SessionSummary(session, "", "", "", record.at, record.at, record.seq)
    summary = replace(summary, updated_at=record.at, last_seq=record.seq)
    match event:
        case SessionCreated():
            is_child = event.parent is not None and event.forked_at is None
            summary = replace(summary, title=event.title, cwd=event.cwd, agent=event.agent)
            return replace(summary, parent=event.parent, sub_agent=is_child)
        case SessionTitled():
            return replace(summary, title=event.title)
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


def title_from(text: str) -> str:
    """Make a title from a prompt: its first line with words, cut at a word."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= TITLE_CHARS:
        return line
    return line[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
