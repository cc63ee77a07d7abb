"""A conversation as plain text for the model that summarizes it, in parts that fit its window.

```
[user] fix the greeting
[assistant] I look at the file first.
[call] read_file {"path":"greet.py"}
[result of read_file] 1: print("helo")
```

Long texts are shortened in the middle, results most of all; reasoning is left out.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.json import encode

from bridle.core.context import estimate_tokens
from bridle.core.kept_context import shorten_middle
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult

MAX_PARTS = 16
MIN_PART_TOKENS = 128


class Lengths(Struct, frozen=True):
    """The maximum length of each kind of entry, in tokens."""

    text: int = 1_500
    args: int = 150
    result: int = 300


SHORTER = (1, 2, 4, 8, 16)
"""Divisors for the lengths, tried in order until everything fits."""


def render_for_summary(
    messages: Sequence[Message], part_tokens: int, most_parts: int = MAX_PARTS
) -> list[str]:
    """Return a conversation as at most `most_parts` texts of `part_tokens`; drop the oldest if necessary."""
    part_tokens = max(part_tokens, MIN_PART_TOKENS)
    parts: list[str] = []
    for divisor in SHORTER:
        lengths = Lengths(1_500 // divisor, 150 // divisor, 300 // divisor)
        parts = _packed([_told(message, lengths) for message in messages], part_tokens)
        if len(parts) <= most_parts:
            return parts
    left_out = len(parts) - most_parts
    note = f"[the oldest {left_out} of {len(parts)} parts of the record are left out]"
    first = shorten_middle(parts[left_out], part_tokens - estimate_tokens(note) - 1)
    return [f"{note}\n{first}", *parts[left_out + 1 :]]


def cut_at_paragraph(text: str, tokens: int) -> str:
    """Cut a text to at most `tokens` tokens, at the end of a paragraph, a line or a word."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= tokens * 4:
        return text
    head = data[: tokens * 4].decode("utf-8", "ignore")
    ends = (head.rfind(mark, len(head) // 2) for mark in ("\n\n", "\n", " "))
    return head[: next((end for end in ends if end > 0), len(head))].rstrip()


def _packed(entries: Sequence[str], tokens: int) -> list[str]:
    parts: list[list[str]] = []
    left = 0
    for entry in filter(None, entries):
        entry = shorten_middle(entry, tokens)
        size = estimate_tokens(entry) + 1
        if not parts or size > left:
            parts.append([])
            left = tokens
        parts[-1].append(entry)
        left -= size
    return ["\n".join(part) for part in parts]


def _told(message: Message, lengths: Lengths) -> str:
    lines = []
    for part in message.parts:
        match part:
            case Text() if part.text.strip():
                lines.append(f"[{message.role}] {shorten_middle(part.text.strip(), lengths.text)}")
            case Text() | Reasoning():
                pass
            case Media():
                lines.append(f"[{message.role}] ({part.mime} {part.name})".rstrip())
            case ToolCall():
                args = part.invalid or encode(part.args).decode()
                lines.append(f"[call] {part.name} {shorten_middle(args, lengths.args)}")
            case ToolResult():
                failed = " (failed)" if part.is_error else ""
                lines.append(
                    f"[result of {part.name}{failed}] {shorten_middle(part.output.strip(), lengths.result)}"
                )
    return "\n".join(lines)
