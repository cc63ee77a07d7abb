"""Deferred tools: left out of requests and called through `tool_call`, so that the prompt prefix stays fixed.

```
request   tool_call                                     lists Bridle's own; tool_search finds MCP tools
reply     tool_call(name="mcp__git__log", arguments={…})
record    mcp__git__log({…})                            what rules, hooks, people and the record see
request   tool_call(name="mcp__git__log", arguments={…})    as the model wrote it
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


def is_rarely_used(tool: object) -> bool:
    """Return True if a tool has `seldom` set: first turns rarely need it, so requests only name it."""
    return bool(getattr(tool, "seldom", False))


def unwrap_call(call: ToolCall, deferred: Collection[str]) -> ToolCall:
    """Return the call that a `tool_call` call wraps; return any other call unchanged."""
    if call.name != CALL or call.invalid:
        return call
    name, arguments = call.args.get("name"), _read(call.args.get("arguments", {}))
    is_whole = isinstance(name, str) and name in deferred and isinstance(arguments, dict)
    return replace(call, name=name, args=arguments) if is_whole else call


def _read(arguments: Any) -> Any:
    """Decode arguments that came as JSON text instead of an object, a common mistake of models."""
    try:
        return decode(arguments) if isinstance(arguments, str) else arguments
    except (DecodeError, UnicodeEncodeError, RecursionError):
        return arguments


def unwrap_calls(message: Message, deferred: Collection[str]) -> Message:
    """Return a reply with each `tool_call` replaced by the call it wraps."""
    if not deferred or not message.calls:
        return message
    parts = tuple(
        unwrap_call(part, deferred) if isinstance(part, ToolCall) else part for part in message.parts
    )
    return Message(message.role, parts)


def wrap_calls(messages: Sequence[Message], deferred: Collection[str]) -> tuple[Message, ...]:
    """Return a conversation in which deferred tools are called through `tool_call` again."""
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
