"""The reply that the model is writing: its live text and thoughts, until the whole reply is recorded."""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from bridle.core.protocol import Record
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.view_model.bounded_text import LINE_CHARS, TEXT_CHARS, shorten
from bridle.surfaces.shared.view_model.calls import CallItems
from bridle.surfaces.shared.view_model.items import ItemList
from bridle.surfaces.shared.view_model.view_types import Answer, CallState, Drop, Item, Note, Patch, Thought

HOLE = " […] "
"""Marks the place of lost deltas."""
MAX_PARTS = 50  # of a kind; when thoughts and text alternate more often, further deltas go to the last part

STALE_PARTS = 3  # of a kind; few replies have more before their calls

PartKind = Literal["text", "thought"]

ITEMS: dict[PartKind, type[Answer] | type[Thought]] = {"text": Answer, "thought": Thought}


class LiveReply:
    """The live parts of a reply; `home` is the key of the reply, made of its run and turn."""

    def __init__(self, items: ItemList) -> None:
        self._items = items
        self._counts: dict[PartKind, int] = {}
        self._speaking: tuple[PartKind, str] | None = None

    def add(self, kind: PartKind, text: str, home: str, seq: int) -> list[Patch]:
        """Append text to the live answer or thought."""
        if self._speaking is not None and self._speaking[0] == kind:
            return [self._items.grow(self._speaking[1], "text", text)] if text else []
        if not text:
            return []
        number = min(self._counts.get(kind, 0), MAX_PARTS - 1)
        while self._items.is_recorded(key := _key(home, kind, number)):
            number += 1  # the record that starts the turn has not arrived yet
        ended = self.pause()
        self._counts[kind], self._speaking = number + 1, (kind, key)
        if key in self._items:
            return [*ended, self._items.grow(key, "text", text)]
        item = ITEMS[kind](key=key, seq=seq, at=0, text=text, is_live=True)
        return [*ended, self._items.put(item, is_live=True)]

    def pause(self) -> list[Patch]:
        """End the current part: further deltas start a new one, and a thought is complete."""
        spoken, self._speaking = self._speaking, None
        item = self._items.get(spoken[1]) if spoken is not None else None
        if not isinstance(item, Thought):
            return []
        return [self._items.put(replace(item, is_live=False), is_live=True)]

    def drop(self) -> list[Patch]:
        """Remove all live parts, because they will not be recorded."""
        self._counts, self._speaking = {}, None
        return self._items.drop_live()

    def settle(self, final: Sequence[Item]) -> list[Patch]:
        """Replace the live parts with the recorded ones."""
        live = self._items.live
        self._counts, self._speaking = {}, None
        dropped = [] if live == [item.key for item in final][: len(live)] else self._items.drop_live()
        return [*dropped, *(self._items.put(item) for item in final)]

    def stale(self, home: str) -> list[Patch]:
        """Return drops for parts that a disconnected screen may still show and that are no longer live."""
        keys = (_key(home, kind, number) for kind in ITEMS for number in range(STALE_PARTS))
        return [Drop(key) for key in keys if key not in self._items]

    def mark_gap(self) -> list[Patch]:
        """Mark lost deltas in every item that is growing."""
        return self._items.append_text_to_all(HOLE)


def make_reply_items(
    message: Message, home: str, record: Record, calls: CallItems, state: CallState
) -> Iterator[Item]:
    """Yield the items of a reply in order; they have the keys of the live parts."""
    counts: dict[PartKind, int] = {"text": 0, "thought": 0}
    for index, part in enumerate(message.parts):
        match part:
            case Text(text="") | Reasoning(text="") | ToolResult():
                pass
            case Text() | Reasoning():
                kind: PartKind = "text" if isinstance(part, Text) else "thought"
                key = _key(home, kind, counts[kind])
                counts[kind] += 1
                yield ITEMS[kind](key=key, seq=record.seq, at=record.at, text=shorten(part.text, TEXT_CHARS))
            case Media():
                words = one_line(f"{part.mime} {part.name}"[:LINE_CHARS])
                yield Note(key=f"{home}.media{index}", seq=record.seq, at=record.at, text=words)
            case ToolCall():
                yield calls.make_requested(part, home, record, state)


def _key(home: str, kind: PartKind, number: int) -> str:
    return f"{home}.{kind}{number}"
