"""The messages of a session, and which of its records still count for them.

A rewind makes what lies between it and its target void for the conversation. Nothing is deleted, and a
rewind to before it brings that back:

```
seq   1 2 3 4 5 6 7        7 is Rewound(to_seq=3)     the conversation is 1 2 3 8 …
                  … 9      9 is Rewound(to_seq=6)     the conversation is 1 2 3 4 5 6 10 …
```

A pin is the user's word for the session and not part of what was said: no rewind takes it back.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
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
    """The messages of a session; results join their calls, in call order, once all are there."""

    def __init__(self) -> None:
        self.messages: list[Counted] = []
        self.call_ids: set[CallId] = set()
        self.compacted: Compacted | None = None
        """The compaction that the first message is from."""
        self.is_whole = False
        """Nothing is missing before the first message: it stands for all that came before."""
        self._unsaid: list[str] = []
        """Pins that the model may not have read yet."""
        self._calls: tuple[ToolCall, ...] = ()
        self._finished: dict[CallId, ToolFinished] = {}

    def apply(self, event: Event) -> None:
        """Take in the next event."""
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
                self.messages = [cleared(item, ids) for item in self.messages]
            case Pinned():
                others = [text for text in self._unsaid if text != event.text]
                self._unsaid = [*others, event.text] if event.pinned else others
            case _:
                pass

    def _add(self, item: Counted) -> None:
        self.messages.append(item)
        self._calls = item.message.calls
        self.call_ids.update(call.id for call in self._calls)

    def _with_pins(self, item: Counted) -> Counted:
        """Let the user's next message tell the model what was pinned, unless it was said already."""
        if item.message.role != "user" or not self._unsaid:
            return item
        users = [other.message for other in self.messages if other.message.role == "user"]
        said = [message.text for message in (*users, item.message)]
        new = [PINNED + text for text in self._unsaid if not any(text in other for other in said)]
        self._unsaid = []
        message = Message("user", (*item.message.parts, *map(Text, new)))
        return replace(item, message=message, tokens=item.tokens + sum(map(estimate_tokens, new)))

    def _replace_old(self, event: Compacted) -> None:
        kept = [_without_pins(item) for item in self.messages[max(0, len(self.messages) - event.kept) :]]
        self.messages = [Counted(event.message, event.tokens, "summary"), *kept]
        self._unsaid = []
        self.compacted, self.is_whole = event, len(kept) == event.kept

    def close_turn(self) -> None:
        """Take up the results there are; a call without one is left without."""
        results = [self._finished[call.id] for call in self._calls if call.id in self._finished]
        if results:
            message = Message("tool", tuple(finished.result for finished in results))
            self.messages.append(Counted(message, sum(finished.tokens for finished in results)))
        self._calls, self._finished = (), {}


def _without_pins(item: Counted) -> Counted:
    """Take the notes about pins away: the summary has them, and a tail may not know where they were."""
    notes = [part for part in item.message.parts if isinstance(part, Text) and part.text.startswith(PINNED)]
    if not notes:
        return item
    parts = tuple(part for part in item.message.parts if part not in notes)
    tokens = item.tokens - sum(estimate_tokens(note.text) for note in notes)
    return replace(item, message=Message(item.message.role, parts), tokens=max(0, tokens))


def cleared(item: Counted, ids: frozenset[CallId]) -> Counted:
    """Put a short note in the place of what some calls gave back."""
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


class Live(Struct, frozen=True):
    """What a conversation still consists of."""

    records: list[Record]
    next_seq: int
    """The sequence number before all of these; 0 when they go back to the beginning."""


def live(records: Sequence[Record]) -> Live:
    """Leave out what was rewound, given all records of a session or its newest ones without a gap."""
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
    return Live(kept[::-1], seq)


def transcript_of(records: Iterable[Record]) -> Transcript:
    """Return the messages that live records hold."""
    transcript = Transcript()
    for record in records:
        transcript.apply(record.event)
    return transcript


def without_open_calls(records: Sequence[Record]) -> Sequence[Record]:
    """Leave out a reply at the end whose calls do not all have results: no vendor takes it back."""
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


def is_spoken(event: Event) -> bool:
    """Tell whether people are to see what an event does to the messages: not what is only done for the model.

    A compaction that no model wrote came with a fork, and is all there is of what was said before.
    """
    return not isinstance(event, OutputsCleared | Pinned) and not (
        isinstance(event, Compacted) and bool(event.model)
    )
