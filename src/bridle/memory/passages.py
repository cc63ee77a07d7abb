"""Splits a session's records into passages of a few sentences each, which memory indexes.

```
MessageAdded, ModelReplied   what was said                       user, assistant
ToolFinished                 the beginning of its output         tool
Compacted                    the summary                         summary
```

A passage is as much as one vector can represent: some 250 tokens, cut between paragraphs or sentences,
starting with the end of the one before.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from bridle.core.protocol import (
    Compacted,
    Event,
    MessageAdded,
    ModelReplied,
    Record,
    RunStarted,
    ToolFinished,
    TurnEnded,
)

MAX_PASSAGE_CHARS = 1_100
MIN_PASSAGE_CHARS = 500  # a passage is shorter only at the end of a text
OVERLAP_CHARS = 150
MAX_TEXT_CHARS = 64 * 1024
MAX_OUTPUT_CHARS = 2_000
MIN_TEXT_CHARS = 3
SEARCH_TOOL = "memory_search"

_UNSPOKEN = frozenset({"fork", "extract"})  # a copy of the parent's messages; a request of Bridle's
_BORDERS = (
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?…。！？][\"')\]]*\s"),
    re.compile(r"\s"),
)

Clean = Callable[[str], str]
"""Removes secrets from a text."""


class Passage(Struct, frozen=True):
    """A piece of what was said, and its place."""

    seq: int
    part: int
    """The number of the passage within its record, from 0."""
    turn: int
    role: str
    at: int
    text: str


class SplitRecords(Struct, frozen=True):
    """The passages of some records of a session."""

    passages: tuple[Passage, ...]
    turns: int
    """How many turns of the session had ended by then."""
    recent: int
    """The record that starts the newest run or compaction: the model still has what follows."""


def passages_of(records: Sequence[Record], clean: Clean, *, turns: int = 0, recent: int = 0) -> SplitRecords:
    """Split live records, in order; `turns` and `recent` are the values before the first one."""
    passages: list[Passage] = []
    for record in records:
        role, text = _message_text(record.event)
        if text:
            text = _plain(clean(text[: 2 * MAX_TEXT_CHARS]))[: MAX_OUTPUT_CHARS if role == "tool" else None]
            passages += [
                Passage(record.seq, part, turns + 1, role, record.at, piece)
                for part, piece in enumerate(split(text[:MAX_TEXT_CHARS]))
            ]
        if isinstance(record.event, TurnEnded):
            turns += 1
        if isinstance(record.event, RunStarted | Compacted):
            recent = record.seq
    return SplitRecords(tuple(passages), turns, recent)


def _message_text(event: Event) -> tuple[str, str]:
    """Return the role and text of an event; empty for events that are not part of the conversation."""
    match event:
        case MessageAdded() if event.source not in _UNSPOKEN and event.message.role in ("user", "assistant"):
            return event.message.role, event.message.text
        case ModelReplied():
            return "assistant", event.message.text
        case ToolFinished(parent=None, denied=False) if event.result.name != SEARCH_TOOL:
            return "tool", event.result.output
        case Compacted():
            return "summary", event.message.text
        case _:
            return "", ""


def _plain(text: str) -> str:
    """Remove control characters and lone surrogates, which no search needs and the file cannot hold."""
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n")
    return "".join(c for c in text if c in "\n\t" or c.isprintable()).strip()


def split(text: str) -> list[str]:
    """Cut a text into passages of at most MAX_PASSAGE_CHARS; a text without words has none."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = _border(text, start)
        piece = text[start:end].strip()
        if len(piece) >= MIN_TEXT_CHARS and any(c.isalnum() for c in piece):
            pieces.append(piece)
        if end >= len(text):
            break
        start = max(_overlap(text, start, end), start + 1)
    return pieces


def _border(text: str, start: int) -> int:
    """Return where a passage that starts at `start` should end."""
    end = start + MAX_PASSAGE_CHARS
    if end >= len(text):
        return len(text)
    for border in _BORDERS:
        found = [match.end() for match in border.finditer(text, start + MIN_PASSAGE_CHARS, end)]
        if found:
            return found[-1]
    return end


def _overlap(text: str, start: int, end: int) -> int:
    """Return where the next passage starts: at a word shortly before the end of the last one."""
    earliest = max(start + MIN_PASSAGE_CHARS // 2, end - OVERLAP_CHARS)
    space = re.compile(r"\s").search(text, earliest, end)
    return space.end() if space and space.end() < end else end
