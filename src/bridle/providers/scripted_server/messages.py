"""Server side of Anthropic's Messages API.

```
message_start
  content_block_start, content_block_delta…, content_block_stop      thinking, then text, then each call
message_delta                                                        stop reason and usage
message_stop
```
"""

from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.messages import (
    Media,
    Message,
    Part,
    Reasoning,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from bridle.core.model import ModelRequest
from bridle.core.tool import ToolSpec
from bridle.providers.script import Reason
from bridle.providers.scripted_reply import CallChunk, Chunk, ReasoningChunk, ScriptedReply, TextChunk
from bridle.providers.scripted_server.wire_request import ErrorResponse, WireRequest, decode_args
from bridle.providers.sse import encode_event

_STOP: dict[StopReason, str] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "content_filter": "refusal",
    "cancelled": "end_turn",
}

_ERRORS: dict[Reason, tuple[int, str, str]] = {
    "rate_limited": (429, "rate_limit_error", "{}"),
    "server_overloaded": (529, "overloaded_error", "{}"),
    "network_timeout": (504, "timeout_error", "{}"),
    "server_error": (500, "api_error", "{}"),
    "invalid_request": (400, "invalid_request_error", "{}"),
    "authentication_failed": (403, "permission_error", "{}"),
    "invalid_api_key": (401, "authentication_error", "invalid x-api-key: {}"),
    "content_filtered": (400, "invalid_request_error", "Output blocked by content filtering policy: {}"),
    "context_length_exceeded": (400, "invalid_request_error", "prompt is too long: {}"),
    "model_not_found": (404, "not_found_error", "model: {}"),
}


class _Block(Struct):
    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] = {}
    tool_use_id: str = ""
    content: "str | list[_Block]" = ""
    is_error: bool = False


class _Message(Struct):
    role: str
    content: str | list[_Block]


class _Tool(Struct):
    name: str
    description: str = ""
    input_schema: dict[str, Any] = {}


class _Request(Struct):
    model: str
    max_tokens: int
    messages: list[_Message]
    system: str | list[_Block] = ""
    tools: list[_Tool] = []
    stream: bool = False


class MessagesWire:
    """Decodes one request and encodes its reply."""

    content_type = "text/event-stream"

    def __init__(self, body: bytes) -> None:
        asked = msgspec.json.decode(body, type=_Request)
        self.asked = WireRequest(
            ModelRequest(
                model=asked.model,
                system=_text(asked.system),
                messages=tuple(message for sent in asked.messages for message in _messages(sent)),
                tools=tuple(ToolSpec(tool.name, tool.description, tool.input_schema) for tool in asked.tools),
                max_output_tokens=asked.max_tokens,
            ),
            stream=asked.stream,
        )
        self._index = -1
        self._open: object = None
        """The content of the open block: a chunk type, or the number of a call."""

    def begin(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that start the stream."""
        used = _usage(scene.usage) | {"output_tokens": 1}
        message = self._message(scene, [], None) | {"usage": used}
        return _event("message_start", message=message) + _event("ping")

    def chunk(self, scene: ScriptedReply, chunk: Chunk) -> bytes:
        """Return the bytes of one chunk, with the start of its content block if it opens one."""
        match chunk:
            case TextChunk():
                opening = self._switch(scene, TextChunk, {"type": "text", "text": ""})
                delta = {"type": "text_delta", "text": chunk.text}
            case ReasoningChunk():
                blank = {"type": "thinking", "thinking": "", "signature": ""}
                opening = self._switch(scene, ReasoningChunk, blank)
                delta = {"type": "thinking_delta", "thinking": chunk.text}
            case CallChunk():
                call = scene.calls[chunk.index]
                blank_call = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
                opening = self._switch(scene, chunk.index, blank_call)
                delta = {"type": "input_json_delta", "partial_json": chunk.args}
        return opening + _event("content_block_delta", index=self._index, delta=delta)

    def end(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that end the stream."""
        delta = {"stop_reason": _STOP[scene.stop_reason], "stop_sequence": None}
        return (
            self._close(scene)
            + _event("message_delta", delta=delta, usage=_usage(scene.usage))
            + _event("message_stop")
        )

    def whole(self, scene: ScriptedReply) -> dict[str, Any]:
        """Return the JSON reply to a request without streaming."""
        content: list[dict[str, Any]] = []
        if scene.reasoning:
            block = {"type": "thinking", "thinking": scene.reasoning, "signature": _signature(scene)}
            content.append(block)
        if scene.text:
            content.append({"type": "text", "text": scene.text})
        for call in scene.calls:
            args = decode_args(call.id, call.name, call.args).args  # this format cannot express invalid JSON
            content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": args})
        return self._message(scene, content, _STOP[scene.stop_reason])

    def error(self, reason: Reason, message: str) -> ErrorResponse:
        """Return an error response in the vendor's format."""
        status, kind, words = _ERRORS[reason]
        error = {"type": kind, "message": words.format(message)}
        return ErrorResponse(status, {"type": "error", "error": error, "request_id": "req_scripted"})

    def error_event(self, reason: Reason, message: str) -> bytes:
        """Return an error event for a stream that has started."""
        return encode_event(msgspec.json.encode(self.error(reason, message).body), "error")

    def _switch(self, scene: ScriptedReply, block: object, blank: dict[str, Any]) -> bytes:
        if self._open == block:
            return b""
        closing = self._close(scene)
        self._open = block
        self._index += 1
        return closing + _event("content_block_start", index=self._index, content_block=blank)

    def _close(self, scene: ScriptedReply) -> bytes:
        if self._open is None:
            return b""
        stop = _event("content_block_stop", index=self._index)
        if self._open is ReasoningChunk:
            delta = {"type": "signature_delta", "signature": _signature(scene)}
            return _event("content_block_delta", index=self._index, delta=delta) + stop
        return stop

    def _message(
        self, scene: ScriptedReply, content: list[dict[str, Any]], stop: str | None
    ) -> dict[str, Any]:
        return {
            "id": "msg_scripted",
            "type": "message",
            "role": "assistant",
            "model": scene.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": _usage(scene.usage),
        }


def _event(kind: str, **fields: Any) -> bytes:
    return encode_event(msgspec.json.encode({"type": kind, **fields}), kind)


def _signature(scene: ScriptedReply) -> str:
    return f"signature-{scene.turn}"


def _usage(used: Usage) -> dict[str, Any]:
    return {
        "input_tokens": used.input,
        "cache_creation_input_tokens": used.cache_write,
        "cache_read_input_tokens": used.cache_read,
        "output_tokens": used.output,
        "output_tokens_details": {"thinking_tokens": used.reasoning},
    }


def _messages(sent: _Message) -> list[Message]:
    """Split the tool results off a user message: our format has a separate message for them."""
    blocks = [_Block("text", sent.content)] if isinstance(sent.content, str) else sent.content
    parts = [_part(block) for block in blocks]
    if sent.role == "assistant":
        return [Message("assistant", tuple(parts))]
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    rest = tuple(part for part in parts if not isinstance(part, ToolResult))
    return [m for m in (Message("tool", results), Message("user", rest)) if m.parts]


def _part(block: _Block) -> Part:
    match block.type:
        case "thinking" | "redacted_thinking":
            return Reasoning(block.thinking)
        case "tool_use":
            return ToolCall(CallId(block.id), block.name, block.input)
        case "tool_result":
            return ToolResult(CallId(block.tool_use_id), "", _text(block.content), block.is_error)
        case "image" | "document":
            return Media(f"{block.type}/*", "")
        case _:
            return Text(block.text)


def _text(content: str | list[_Block]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.text for block in content if block.type == "text")
