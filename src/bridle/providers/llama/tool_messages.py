"""Conversations for models without a tool role: results become user messages, calls assistant text.

```
assistant  calls a, b                     assistant  {"tool": "a", …}  {"tool": "b", …}
tool       result of a, result of b  ─▶   user       Tool: a ⏎⏎ Result: ⏎ …  ---  Tool: b ⏎⏎ Result: ⏎ …
user       go on                                     ---  go on
```

Each result is written out before they are joined, so that the model gets all of them.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from bridle.core.messages import Message, Part, Text, ToolCall, ToolResult

SEPARATOR = "\n\n---\n\n"
CallStyle = Literal["keep", "text", "drop"]


def merge_tool_messages(messages: Sequence[Message], calls: CallStyle) -> tuple[Message, ...]:
    """Return the conversation without tool messages; adjacent messages of one role are merged.

    Calls are kept, written out as text, or dropped; a message that is then empty is dropped.
    """
    folded: list[Message] = []
    for message in messages:
        parts = tuple(_parts(message, calls))
        role = "user" if message.role == "tool" else message.role
        if not parts:
            continue
        if folded and folded[-1].role == role:
            gap = () if role == "assistant" and calls == "keep" else (Text(SEPARATOR),)
            folded[-1] = Message(role, (*folded[-1].parts, *gap, *parts))
        else:
            folded.append(Message(role, parts))
    return tuple(folded)


def result_text(result: ToolResult) -> str:
    """Return a result as text, in Kontekst's format."""
    return f"Tool: {result.name}\n\nResult:\n{result.output}"


def call_text(call: ToolCall) -> str:
    """Return a call as text, in the format that a model without tool support uses."""
    return msgspec.json.encode({"tool": call.name, "arguments": call.args}).decode()


def _parts(message: Message, calls: CallStyle) -> Iterator[Part]:
    is_first = True
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield Text(result_text(part) if is_first else f"{SEPARATOR}{result_text(part)}")
            yield from part.media
            is_first = False
        elif not isinstance(part, ToolCall) or calls == "keep":
            yield part
        elif calls == "text":
            yield Text(call_text(part) if is_first else f"\n{call_text(part)}")
            is_first = False
