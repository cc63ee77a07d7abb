"""Tools that requests do not show: called through one that is always there, so that requests stay alike.

```
request   tool_call                                     names Bridle's own; tool_search finds those of servers
reply     tool_call(name="mcp__git__log", arguments={…})
record    mcp__git__log({…})                            what rules, hooks, people and the record see
request   tool_call(name="mcp__git__log", arguments={…})    the model's own words again
```
"""

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode
from msgspec.structs import replace

from bridle.core.ids import CallId
from bridle.core.messages import Message, Part, ToolCall, ToolResult

SEARCH = "tool_search"
CALL = "tool_call"


def is_seldom(tool: object) -> bool:
    """Tell whether a tool has the mark `seldom`: a first turn hardly ever needs it, so it is only named."""
    return bool(getattr(tool, "seldom", False))


def named_call(call: ToolCall, deferred: Collection[str]) -> ToolCall:
    """Return the call that a call of `tool_call` stands for; any other as it is."""
    if call.name != CALL or call.invalid:
        return call
    name, arguments = call.args.get("name"), _read(call.args.get("arguments", {}))
    is_whole = isinstance(name, str) and name in deferred and isinstance(arguments, dict)
    return replace(call, name=name, args=arguments) if is_whole else call


def _read(arguments: Any) -> Any:
    """Return what a text stands for that should have been an object: models often write it so."""
    try:
        return decode(arguments) if isinstance(arguments, str) else arguments
    except (DecodeError, UnicodeEncodeError, RecursionError):
        return arguments


def with_named_calls(message: Message, deferred: Collection[str]) -> Message:
    """Return a reply with the calls that it stands for."""
    if not deferred or not message.calls:
        return message
    parts = tuple(
        named_call(part, deferred) if isinstance(part, ToolCall) else part for part in message.parts
    )
    return Message(message.role, parts)


def as_sent(messages: Sequence[Message], deferred: Collection[str]) -> tuple[Message, ...]:
    """Return a conversation in which deferred tools are called as the model has called them."""
    if not deferred:
        return tuple(messages)
    through: set[CallId] = set()

    def sent(part: Part) -> Part:
        if isinstance(part, ToolCall) and part.name in deferred:
            through.add(part.id)
            return replace(part, name=CALL, args={"name": part.name, "arguments": part.args})
        if isinstance(part, ToolResult) and part.call_id in through:
            return replace(part, name=CALL)
        return part

    return tuple(
        message
        if message.role not in ("assistant", "tool")
        else Message(message.role, tuple(map(sent, message.parts)))
        for message in messages
    )
