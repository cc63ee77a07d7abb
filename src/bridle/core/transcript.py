"""The messages of a session, and which of its records still count after rewinds.

A rewind removes the records between itself and its target from the conversation. Nothing is deleted, and a
rewind to before it restores them:

```
seq   1 2 3 4 5 6 7        7 is Rewound(to_seq=3)     the conversation is 1 2 3 8 …
                  … 9      9 is Rewound(to_seq=6)     the conversation is 1 2 3 4 5 6 10 …
```

A pin belongs to the session, not to the conversation: no rewind removes it.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec.structs import replace

from bridle.core.context import MESSAGE_FRAME_TOKENS, Counted, estimate_message, estimate_tokens
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult
from bridle.core.protocol import (
    Compacted,
    Event,
    MessageAdded,
    ModelReplied,
    OutputsCleared,
    Pinned,
    Record,
    Rewound,
    RunEnded,
    ToolFinished,
    TurnEnded,
)

CLEARED = "[cleared to save room: make the call again if you need its output]"
PINNED = "\n\n[Pinned by the user, to be kept to from now on]\n"


class Transcript:
    """The messages of a session; results are added after their calls, in call order, once all exist."""

    def __init__(self) -> None:
        self.messages: list[Counted] = []
        self.call_ids: set[CallId] = set()
        self.compacted: Compacted | None = None
        """The compaction that wrote the first message."""
        self.is_whole = False
        """True if the first message is a summary of everything before it, so that nothing is missing."""
        self._new_pins: list[str] = []
        """Pins that the model may not have seen yet."""
        self._calls: tuple[ToolCall, ...] = ()
        self._finished: dict[CallId, ToolFinished] = {}

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        match event:
            case MessageAdded():
                self.close_turn()
                kind: Literal["", "correction"] = "correction" if event.source == "steer" else ""
                self._add(self._with_pins(Counted(event.message, event.tokens, kind)))
            case ModelReplied():
                self.close_turn()
                self._add(Counted(event.message, event.tokens))
            case ToolFinished(parent=None):
                self._finished[event.result.call_id] = event
                if all(call.id in self._finished for call in self._calls):
                    self.close_turn()
            case TurnEnded() | RunEnded():
                self.close_turn()
            case Compacted():
                self.close_turn()
                self._replace_old(event)
            case OutputsCleared():
                ids = frozenset(event.call_ids)
                self.messages = [clear_results(item, ids) for item in self.messages]
            case Pinned():
                others = [text for text in self._new_pins if text != event.text]
                self._new_pins = [*others, event.text] if event.pinned else others
            case _:
                pass

    def take(self, event: Event) -> list[Counted]:
        """Apply the next event; return the messages that it completes, and forget them."""
        self.apply(event)
        taken, self.messages = self.messages, []
        return taken

    def _add(self, item: Counted) -> None:
        self.messages.append(item)
        self._calls = item.message.calls
        self.call_ids.update(call.id for call in self._calls)

    def _with_pins(self, item: Counted) -> Counted:
        """Add new pins to the user's next message, unless the model has already seen them."""
        if item.message.role != "user" or not self._new_pins:
            return item
        users = [other.message for other in self.messages if other.message.role == "user"]
        said = [message.text for message in (*users, item.message)]
        new = [PINNED + text for text in self._new_pins if not any(text in other for other in said)]
        self._new_pins = []
        message = Message("user", (*item.message.parts, *map(Text, new)))
        return replace(item, message=message, tokens=item.tokens + sum(map(estimate_tokens, new)))

    def _replace_old(self, event: Compacted) -> None:
        kept = [_without_pins(item) for item in self.messages[max(0, len(self.messages) - event.kept) :]]
        self.messages = [Counted(event.message, event.tokens, "summary"), *kept]
        self._new_pins = []
        self.compacted, self.is_whole = event, len(kept) == event.kept

    def close_turn(self) -> None:
        """Add the results that exist as a message; a call without a result stays without."""
        results = [self._finished[call.id] for call in self._calls if call.id in self._finished]
        if results:
            message = Message("tool", tuple(finished.result for finished in results))
            tokens = tuple(finished.tokens for finished in results)
            self.messages.append(Counted(message, sum(tokens), result_tokens=tokens))
        self._calls, self._finished = (), {}


def _without_pins(item: Counted) -> Counted:
    """Remove the notes about pins: the summary has them, and a tail may not know where they were."""
    notes = [part for part in item.message.parts if isinstance(part, Text) and part.text.startswith(PINNED)]
    if not notes:
        return item
    parts = tuple(part for part in item.message.parts if part not in notes)
    tokens = item.tokens - sum(estimate_tokens(note.text) for note in notes)
    return replace(item, message=Message(item.message.role, parts), tokens=max(0, tokens))


def clear_results(item: Counted, ids: frozenset[CallId]) -> Counted:
    """Replace the results of some calls with a short note."""
    if item.message.role != "tool":
        return item
    parts = tuple(
        replace(part, output=CLEARED, media=())
        if isinstance(part, ToolResult) and part.call_id in ids
        else part
        for part in item.message.parts
    )
    if parts == item.message.parts:
        return item
    message = Message("tool", parts)
    return Counted(message, min(item.tokens, estimate_message(message) + MESSAGE_FRAME_TOKENS))


def drop_rewound(records: Sequence[Record]) -> list[Record]:
    """Leave out rewound records; takes all records of a session, or its newest ones without a gap."""
    kept: list[Record] = []
    first = records[0].seq if records else 1
    seq = records[-1].seq if records else 0
    while seq >= first:
        record = records[seq - first]
        if isinstance(record.event, Rewound) and record.event.scope != "files":
            back = min(record.event.to_seq, seq - 1)
            void = records[max(back - first + 1, 0) : seq - first]
            kept += [one for one in reversed(void) if isinstance(one.event, Pinned)]
            seq = back
        else:
            kept.append(record)
            seq -= 1
    return kept[::-1]


def transcript_of(records: Iterable[Record]) -> Transcript:
    """Return the messages of live records."""
    transcript = Transcript()
    for record in records:
        transcript.apply(record.event)
    return transcript


def drop_open_calls(records: Sequence[Record]) -> Sequence[Record]:
    """Leave out a last reply whose calls lack results: no vendor accepts it."""
    finished: set[CallId] = set()
    for index in range(len(records) - 1, -1, -1):
        match records[index].event:
            case ToolFinished(parent=None) as event:
                finished.add(event.result.call_id)
            case ModelReplied() | MessageAdded() as event:
                is_open = any(call.id not in finished for call in event.message.calls)
                return records[:index] if is_open else records
            case _:
                pass
    return records


def message_of(event: Event) -> Counted | None:
    """Return the message that an event adds, with one result each; None if it adds none."""
    match event:
        case MessageAdded() | ModelReplied():
            return Counted(event.message, event.tokens)
        case ToolFinished(parent=None):
            return Counted(Message("tool", (event.result,)), event.tokens)
        case _:
            return None


def is_visible_to_people(event: Event) -> bool:
    """Return True if people should see an event's effect on the messages; False if it is only for the model.

    A compaction that no model wrote was copied by a fork: nothing else is left of the earlier messages.
    """
    return not isinstance(event, OutputsCleared | Pinned) and not (
        isinstance(event, Compacted) and bool(event.model)
    )
