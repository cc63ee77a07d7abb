"""Turns events other than messages and calls into one-line notes."""

from msgspec import Struct

from bridle.core.facts import NO_MODEL
from bridle.core.protocol import (
    Event,
    FilesChanged,
    Outcome,
    ReplyLost,
    RunEnded,
    RunResumed,
    SessionCreated,
)
from bridle.surfaces.event_notes import make_note
from bridle.surfaces.terminal import one_line
from bridle.surfaces.text_format import describe_cost, format_count, format_elapsed
from bridle.surfaces.transcript import describe_origin
from bridle.surfaces.view_model.bounded_text import LINE_CHARS, shorten
from bridle.surfaces.view_model.view_types import Weight

OUTCOMES: dict[Outcome, tuple[Weight, str]] = {
    "completed": ("done", "done"),
    "denied": ("warning", "denied"),
    "cancelled": ("warning", "cancelled"),
    "failed": ("failed", "failed"),
    "budget_exhausted": ("warning", "out of budget"),
    "limit": ("warning", "reached a limit"),
}


class NoteText(Struct, frozen=True):
    """The text and weight of a note."""

    weight: Weight
    text: str


def make_event_note(event: Event) -> NoteText | None:
    """Return the note of an event; None if it is part of the conversation or not for people."""
    match event:
        case SessionCreated(parent=str()):
            return _noted("detail", describe_origin(event))
        case RunResumed():
            lost = f", without {format_count(len(event.interrupted), 'call')}" if event.interrupted else ""
            return _noted("warning", f"goes on after it was cut off{lost}")
        case ReplyLost():
            return _noted("detail", "an answer did not come to its end")
        case FilesChanged(rewind=True):
            return None
        case _:
            found = make_note(event)
            return None if found is None else _noted(*found)


def make_end_note(event: RunEnded, model: str = "", duration_ms: int | None = None) -> NoteText | None:
    """Return a note on how a run ended and what it used; None for a successful tool call made by a person."""
    if model.startswith(NO_MODEL) and event.outcome == "completed":
        return None
    weight, word = OUTCOMES[event.outcome]
    words = [
        f"{word}: {event.reason}" if event.reason else word,
        format_count(event.turns, "turn"),
        format_count(event.tool_calls, "tool call"),
        format_count(event.usage.context, "token"),
        describe_cost(event.cost),
        *([format_elapsed(duration_ms)] if duration_ms is not None else []),
    ]
    return _noted(weight, " · ".join(words))


def make_detail_note(text: str) -> NoteText:
    """Return a note of low weight."""
    return _noted("detail", text)


def _noted(weight: Weight, text: str) -> NoteText:
    return NoteText(weight, shorten(one_line(text), 2 * LINE_CHARS).replace("\n", " "))
