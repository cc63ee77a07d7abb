"""The messages of a session, and which of its records still count for them.

A rewind makes what lies between it and its target void for the conversation. Nothing is deleted, and a
rewind to before it brings that back:

```
seq   1 2 3 4 5 6 7        7 is Rewound(to_seq=3)     the conversation is 1 2 3 8 …
                  … 9      9 is Rewound(to_seq=6)     the conversation is 1 2 3 4 5 6 10 …
```
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.context import MESSAGE_FRAME_TOKENS, Counted, estimate_message
from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult
from bridle.core.protocol import (
    Compacted,
    Event,
    MessageAdded,
    ModelReplied,
    OutputsCleared,
    Record,
    Rewound,
    RunEnded,
    ToolFinished,
    TurnEnded,
)

CLEARED = "[cleared to save room: make the call again if you need its output]"


class Transcript:
    """The messages of a session; results join their calls, in call order, once all are there."""

    def __init__(self) -> None:
        self.messages: list[Counted] = []
        self.call_ids: set[CallId] = set()
        self._calls: tuple[ToolCall, ...] = ()
        self._finished: dict[CallId, ToolFinished] = {}

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case MessageAdded() | ModelReplied():
                self._close_turn()
                self.messages.append(Counted(event.message, event.tokens))
                self._calls = event.message.calls
                self.call_ids.update(call.id for call in self._calls)
            case ToolFinished(parent=None):
                self._finished[event.result.call_id] = event
                if all(call.id in self._finished for call in self._calls):
                    self._close_turn()
            case TurnEnded() | RunEnded():
                self._close_turn()
            case Compacted():
                self._close_turn()
                kept = self.messages[len(self.messages) - event.kept :] if event.kept else []
                self.messages = [Counted(event.message, event.tokens), *kept]
            case OutputsCleared():
                cleared = frozenset(event.call_ids)
                self.messages = [_without_outputs(item, cleared) for item in self.messages]
            case _:
                pass

    def _close_turn(self) -> None:
        results = [self._finished[call.id] for call in self._calls if call.id in self._finished]
        if results:
            message = Message("tool", tuple(finished.result for finished in results))
            self.messages.append(Counted(message, sum(finished.tokens for finished in results)))
        self._calls, self._finished = (), {}


def _without_outputs(item: Counted, cleared: frozenset[CallId]) -> Counted:
    """Put a short note in the place of what some calls gave back."""
    if item.message.role != "tool":
        return item
    parts = tuple(
        replace(part, output=CLEARED, media=())
        if isinstance(part, ToolResult) and part.call_id in cleared
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
            seq = min(record.event.to_seq, seq - 1)
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
