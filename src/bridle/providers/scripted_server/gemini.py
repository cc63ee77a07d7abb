"""Server side of Gemini's generateContent and streamGenerateContent.

A stream is a series of whole responses, each with only the new parts; the last has the finish reason.
Calls are sent whole, so invalid argument JSON becomes the finish reason MALFORMED_FUNCTION_CALL.
With `alt=sse` the series is an event stream, without it one JSON array.
"""

from typing import Any, Literal

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
from bridle.providers.scripted_reply import (
    CallChunk,
    Chunk,
    ReasoningChunk,
    ScriptedCall,
    ScriptedReply,
    TextChunk,
)
from bridle.providers.scripted_server.wire_request import ErrorResponse, WireRequest, decode_args
from bridle.providers.sse import encode_event

Form = Literal["whole", "sse", "array"]

_FINISH: dict[StopReason, str] = {
    "end_turn": "STOP",
    "tool_use": "STOP",
    "max_tokens": "MAX_TOKENS",
    "stop_sequence": "STOP",
    "content_filter": "SAFETY",
    "cancelled": "STOP",
}

_ERRORS: dict[Reason, tuple[int, str, str]] = {
    "rate_limited": (429, "RESOURCE_EXHAUSTED", "{}"),
    "server_overloaded": (503, "UNAVAILABLE", "{}"),
    "network_timeout": (504, "DEADLINE_EXCEEDED", "{}"),
    "server_error": (500, "INTERNAL", "{}"),
    "invalid_request": (400, "INVALID_ARGUMENT", "{}"),
    "authentication_failed": (403, "PERMISSION_DENIED", "{}"),
    "invalid_api_key": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key. {}"),
    "content_filtered": (400, "INVALID_ARGUMENT", "The prompt violates the content policy: {}"),
    "context_length_exceeded": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (9999999) exceeds the maximum number of tokens allowed (1048576). {}",
    ),
    "model_not_found": (404, "NOT_FOUND", "models/{} is not found for API version v1"),
}


class _FunctionCall(Struct):
    name: str
    args: dict[str, Any] | None = None
    id: str = ""


class _FunctionResponse(Struct):
    name: str
    response: dict[str, Any]
    id: str = ""


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool = False
    function_call: _FunctionCall | None = None
    function_response: _FunctionResponse | None = None
    inline_data: dict[str, Any] | None = None


class _Content(Struct):
    parts: list[_Part] = []
    role: str = "user"


class _Declaration(Struct, rename="camel"):
    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None


class _Tool(Struct, rename="camel"):
    function_declarations: list[_Declaration] = []


class _Request(Struct, rename="camel"):
    contents: list[_Content]
    system_instruction: _Content | None = None
    tools: list[_Tool] | None = None


class GeminiWire:
    """Decodes one request and encodes its reply."""

    def __init__(self, body: bytes, model: str, form: Form) -> None:
        asked = msgspec.json.decode(body, type=_Request)
        declared = [one for tool in asked.tools or () for one in tool.function_declarations]
        system = asked.system_instruction.parts if asked.system_instruction else []
        self.content_type = "application/json" if form == "array" else "text/event-stream"
        self.asked = WireRequest(
            ModelRequest(
                model=model,
                system="".join(part.text or "" for part in system),
                messages=_messages(asked.contents),
                tools=tuple(
                    ToolSpec(one.name, one.description, one.parameters or one.parameters_json_schema or {})
                    for one in declared
                ),
            ),
            stream=form != "whole",
        )
        self._form = form
        self._is_first = True

    def begin(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that start the stream."""
        return b"" if self._form == "sse" else b"["

    def chunk(self, scene: ScriptedReply, chunk: Chunk) -> bytes:
        """Return the bytes of one chunk; a call is sent only when complete."""
        match chunk:
            case TextChunk():
                return self._frame(_response(scene, [{"text": chunk.text}]))
            case ReasoningChunk():
                return self._frame(_response(scene, [{"text": chunk.text, "thought": True}]))
            case CallChunk(last=True) if _is_sound(scene.calls[chunk.index]):
                return self._frame(_response(scene, [_call(scene, chunk.index)]))
            case CallChunk():
                return b""

    def end(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that end the stream."""
        return self._frame(_response(scene, [], _finish(scene))) + (b"" if self._form == "sse" else b"]")

    def whole(self, scene: ScriptedReply) -> dict[str, Any]:
        """Return the JSON reply to a request without streaming."""
        parts: list[dict[str, Any]] = []
        if scene.reasoning:
            parts.append({"text": scene.reasoning, "thought": True})
        if scene.text:
            parts.append({"text": scene.text})
        parts += [_call(scene, n) for n, call in enumerate(scene.calls) if _is_sound(call)]
        return _response(scene, parts, _finish(scene))

    def error(self, reason: Reason, message: str) -> ErrorResponse:
        """Return an error response in the vendor's format."""
        status, word, words = _ERRORS[reason]
        return ErrorResponse(
            status, {"error": {"code": status, "message": words.format(message), "status": word}}
        )

    def error_event(self, reason: Reason, message: str) -> bytes:
        """Return an error event for a stream that has started."""
        return self._frame(self.error(reason, message).body)

    def _frame(self, response: dict[str, Any]) -> bytes:
        data = msgspec.json.encode(response)
        if self._form == "sse":
            return encode_event(data)
        comma = b"" if self._is_first else b",\r\n"
        self._is_first = False
        return comma + data


def _response(scene: ScriptedReply, parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(scene.usage),
        "modelVersion": scene.model,
        "responseId": "scripted",
    }


def _finish(scene: ScriptedReply) -> str:
    sound = all(map(_is_sound, scene.calls))
    return _FINISH[scene.stop_reason] if sound else "MALFORMED_FUNCTION_CALL"


def _is_sound(call: ScriptedCall) -> bool:
    return not decode_args(call.id, call.name, call.args).invalid


def _call(scene: ScriptedReply, index: int) -> dict[str, Any]:
    call = scene.calls[index]
    function = {"name": call.name, "args": decode_args(call.id, call.name, call.args).args}
    part: dict[str, Any] = {"functionCall": function | {"id": call.id} if call.id else function}
    if index == 0:  # Gemini signs only the first of parallel calls
        part["thoughtSignature"] = "c2lnbmF0dXJl"
    return part


def _usage(used: Usage) -> dict[str, Any]:
    """Return usage in Gemini's format: the candidates exclude thoughts."""
    prompt = used.input + used.cache_read + used.cache_write
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": used.cache_read,
        "candidatesTokenCount": used.output - used.reasoning,
        "thoughtsTokenCount": used.reasoning,
        "totalTokenCount": prompt + used.output,
    }


def _messages(contents: list[_Content]) -> tuple[Message, ...]:
    """Return the messages of a conversation; a result without an id belongs to the next open call."""
    messages: list[Message] = []
    open_calls: list[ToolCall] = []
    for content in contents:
        if content.role == "model":
            parts = tuple(_model_part(part, n) for n, part in enumerate(content.parts))
            messages.append(Message("assistant", parts))
            open_calls = list(messages[-1].calls)
            continue
        results = [part.function_response for part in content.parts if part.function_response]
        rest = tuple(_user_part(part) for part in content.parts if part.function_response is None)
        if results:
            messages.append(Message("tool", tuple(_result(result, open_calls) for result in results)))
        if rest:
            messages.append(Message("user", rest))
    return tuple(messages)


def _model_part(part: _Part, number: int) -> Part:
    if part.function_call:
        call = part.function_call
        return ToolCall(CallId(call.id or f"{call.name}-{number}"), call.name, call.args or {})
    return Reasoning(part.text or "") if part.thought else Text(part.text or "")


def _user_part(part: _Part) -> Part:
    return Text(part.text) if part.text is not None else Media("*/*", "")


def _result(result: _FunctionResponse, open_calls: list[ToolCall]) -> ToolResult:
    matching = [call for call in open_calls if result.id in ("", call.id) and call.name == result.name]
    call_id = matching[0].id if matching else CallId(result.id)
    if matching:
        open_calls.remove(matching[0])
    values = list(result.response.values())
    is_plain = len(values) == 1 and isinstance(values[0], str)
    output = values[0] if is_plain else msgspec.json.encode(result.response).decode()
    return ToolResult(call_id, result.name, output, is_error="error" in result.response)
