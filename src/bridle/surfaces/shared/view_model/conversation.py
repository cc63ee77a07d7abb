"""Folds records and deltas into the items of a conversation.

```
deltas          live answer, live thought, call being written    at the end, until their record comes
ModelReplied    answer, thought, calls                           replaces the live ones
Tool…           the call: waiting, running, done                 calls of code right after their parent
the rest        notes, or nothing
```
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.facts import NO_MODEL
from bridle.core.messages import Media, Message, ToolResult
from bridle.core.protocol import (
    Aborted,
    ChildEnded,
    ChildStarted,
    Compacted,
    Delta,
    Event,
    FilesChanged,
    HookStarted,
    Lagged,
    MessageAdded,
    MessageSource,
    ModelReplied,
    ModelSwitched,
    Notice,
    Outcome,
    ReasoningDelta,
    Record,
    ReplyLost,
    Retrying,
    Rewound,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionCreated,
    TextDelta,
    ToolCallDelta,
    ToolOutputDelta,
    TurnStarted,
)
from bridle.core.session_status import SessionStatus
from bridle.core.transcript import is_visible_to_people
from bridle.surfaces.shared.event_notes import make_note
from bridle.surfaces.shared.subagent_names import SubAgentNames
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import describe_cost, format_count, format_elapsed
from bridle.surfaces.shared.transcript import describe_origin
from bridle.surfaces.shared.view_model.bounded_text import LINE_CHARS, TEXT_CHARS, shorten
from bridle.surfaces.shared.view_model.call_items import make_attachments
from bridle.surfaces.shared.view_model.calls import CallItems
from bridle.surfaces.shared.view_model.items import ItemList
from bridle.surfaces.shared.view_model.live_reply import LiveReply, make_reply_items
from bridle.surfaces.shared.view_model.view_types import Item, Note, Patch, Said, Weight

# ---------------------------------------------------------------------------- note items
# Turns events other than messages and calls into one-line notes.


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


# ---------------------------------------------------------------------------- conversation


class Conversation:
    """The items of a session, or of a part of it."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self.items = ItemList(items)
        self.draft = LiveReply(self.items)
        self._calls = CallItems(self.items)
        self._subagents = SubAgentNames()
        self._boundaries: list[int] = []
        """The sequence numbers of records before which every call has ended."""
        self._run_id = self._model = ""
        self._turn = 0
        self._began_at: int | None = None
        self._seq = self._at = 0
        self._awaits_reply = False

    def go_on(self, status: SessionStatus) -> None:
        """Set the current position of the session: further records and deltas follow it."""
        self._seq, self._at = status.seq, status.updated_at
        if (run := status.run) is not None:
            self._run_id, self._model, self._turn = run.run_id, run.model, run.turn
            self._began_at = run.started_at
        if status.run is None or not status.is_running:
            self._calls.mark_lost()

    def close(self) -> None:
        """Mark the conversation as complete: no more records follow."""
        self._calls.mark_lost()

    def add(self, record: Record) -> list[Patch]:
        """Apply the next record."""
        idle_ms = record.at - self._at
        self._seq, self._at = record.seq, record.at
        if isinstance(record.event, TurnStarted | ModelReplied | RunEnded):
            self._awaits_reply = isinstance(record.event, TurnStarted)
        match record.event:
            case RunStarted() | TurnStarted() | RunResumed() | RunEnded() as event:
                return [*self.draft.drop(), *self._move(record, event, idle_ms)]
            case MessageAdded() as event:
                self._boundaries.append(record.seq)
                return self._say(record, event)
            case Compacted() as event if is_visible_to_people(event):
                return [self._said(record, event.message, "fork")]
            case ModelReplied() as event:
                home = f"{event.run_id}.{event.turn}"
                final = list(make_reply_items(event.message, home, record, self._calls, "running"))
                return self.draft.settle(final)
            case ReplyLost() | Retrying() | ModelSwitched() as event:
                return [*self.draft.drop(), *self._note(record, make_event_note(event))]
            case ChildStarted() | ChildEnded() as event:
                return self._note_child(record, event)
            case Rewound() as event:
                return [
                    *self.draft.drop(),
                    *self._calls.mark_lost(),
                    *self._note(record, make_event_note(event)),
                ]
            case event:
                return self._calls.add(record) or self._note(record, make_event_note(event))

    def add_delta(self, delta: Delta) -> list[Patch]:
        """Apply a delta."""
        match delta:
            case TextDelta():
                return self.draft.add("text", delta.text, self._home, self._seq)
            case ReasoningDelta():
                return self.draft.add("thought", delta.text, self._home, self._seq)
            case ToolCallDelta():
                return [*self.draft.pause(), *self._calls.write(delta, self._home, self._seq)]
            case ToolOutputDelta():
                return self._calls.print(delta)
            case Lagged():
                return self.draft.mark_gap()
            case Aborted():
                return [*self.draft.drop(), *self._calls.mark_lost()]
            case HookStarted() | Notice():
                return []

    def forget(self, keys: Sequence[str]) -> int | None:
        """Unload the oldest items if they are among these; return the position to load them again, or None.

        Related items are unloaded together: all before a boundary.
        """
        gone = set(keys)
        kept = next((item.seq for item in self.items.in_order if item.key not in gone), self._seq)
        first = min([kept, *(call.seq for call in self._calls.open)])
        boundary = max((seq for seq in self._boundaries if seq <= first), default=0)
        old = [item for item in self.items.in_order if item.seq < boundary]
        if not old:
            return None
        self.items.forget([item.key for item in old])
        self._calls.forget(old)
        self._boundaries = [seq for seq in self._boundaries if seq >= boundary]
        return boundary - 1

    @property
    def unrecorded(self) -> list[Patch]:
        """The patches that bring a screen that has seen every record to the current live state."""
        stale = self.draft.stale(self._home) if self._awaits_reply else []
        return [*stale, *self.items.unrecorded]

    @property
    def _home(self) -> str:
        """The key of the reply that is being written."""
        return f"{self._run_id}.{self._turn}"

    def _move(
        self, record: Record, event: RunStarted | TurnStarted | RunResumed | RunEnded, idle_ms: int
    ) -> list[Patch]:
        match event:
            case RunStarted():
                self._boundaries.append(record.seq)
                self._run_id, self._model, self._turn = event.run_id, event.model, 0
                self._began_at = record.at
                return self._calls.mark_lost()
            case TurnStarted():
                self._boundaries.append(record.seq)
                if event.run_id != self._run_id:  # it began before the loaded records
                    self._run_id, self._model, self._began_at = event.run_id, "", None
                self._turn = event.turn
                return []
            case RunResumed():
                if self._began_at is not None:
                    self._began_at += max(0, idle_ms)
                return self._note(record, make_event_note(event))
            case RunEnded():
                return [*self._calls.mark_lost(), *self._end(record, event)]

    def _end(self, record: Record, event: RunEnded) -> list[Patch]:
        if event.run_id == self._run_id and self._began_at is not None:
            return self._note(record, make_end_note(event, self._model, record.at - self._began_at), event)
        return self._note(record, make_end_note(event), event)

    def _note(self, record: Record, words: NoteText | None, end: RunEnded | None = None) -> list[Patch]:
        if words is None:
            return []
        note = Note(key=f"n{record.seq}", seq=record.seq, at=record.at, text=words.text, weight=words.weight)
        if end is not None:
            note = replace(note, run_id=end.run_id, outcome=end.outcome)
        return [self.items.put(note)]

    def _note_child(self, record: Record, event: ChildStarted | ChildEnded) -> list[Patch]:
        line = self._subagents.line(event)
        if isinstance(event, ChildStarted) and event.call_id is not None and event.call_id in self._calls:
            return self._calls.change(event.call_id, lambda call: replace(call, child=event.child))
        return self._note(record, make_detail_note(line))

    def _say(self, record: Record, event: MessageAdded) -> list[Patch]:
        message = event.message
        match message.role:
            case "user" | "system":
                return [self._said(record, message, event.source)]
            case "assistant":
                parts = make_reply_items(message, f"m{record.seq}", record, self._calls, "lost")
                return [self.items.put(item) for item in parts]
            case "tool":
                results = [part for part in message.parts if isinstance(part, ToolResult)]
                return [patch for result in results for patch in self._calls.finish_imported(result)]

    def _said(self, record: Record, message: Message, source: MessageSource) -> Patch:
        said = Said(
            key=f"m{record.seq}",
            seq=record.seq,
            at=record.at,
            text=shorten(message.text, TEXT_CHARS),
            source=source,
            attached=make_attachments(part for part in message.parts if isinstance(part, Media)),
        )
        return self.items.put(said)
