"""Server side of OpenAI's Chat Completions API."""

from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Part, StopReason, Text, ToolResult, Usage
from bridle.core.model import ModelRequest
from bridle.core.tool import ToolSpec
from bridle.providers.script import Reason
from bridle.providers.scripted_reply import CallChunk, Chunk, ReasoningChunk, ScriptedReply, TextChunk
from bridle.providers.scripted_server.wire_request import ErrorResponse, WireRequest, decode_args
from bridle.providers.sse import encode_event

CREATED = 1_763_190_000  # constant, so that replies are reproducible

_FINISH: dict[StopReason, str] = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop",
    "content_filter": "content_filter",
    "cancelled": "stop",
}

_ERRORS: dict[Reason, tuple[int, str, str | None]] = {
    "rate_limited": (429, "requests", "rate_limit_exceeded"),
    "server_overloaded": (503, "service_unavailable_error", "server_is_overloaded"),
    "network_timeout": (408, "timeout", None),
    "server_error": (500, "server_error", None),
    "invalid_request": (400, "invalid_request_error", None),
    "authentication_failed": (401, "authentication_error", None),
    "invalid_api_key": (401, "invalid_request_error", "invalid_api_key"),
    "content_filtered": (400, "invalid_request_error", "content_policy_violation"),
    "context_length_exceeded": (400, "invalid_request_error", "context_length_exceeded"),
    "model_not_found": (404, "invalid_request_error", "model_not_found"),
}


class _Url(Struct):
    url: str


class _Content(Struct):
    type: str
    text: str = ""
    image_url: _Url | None = None


class _Function(Struct):
    name: str
    arguments: str = ""
    description: str = ""
    parameters: dict[str, Any] = {}


class _Call(Struct):
    id: str
    function: _Function


class _Message(Struct):
    role: str
    content: str | list[_Content] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str = ""


class _Tool(Struct):
    function: _Function


class _StreamOptions(Struct):
    include_usage: bool = False


class _Request(Struct):
    model: str
    messages: list[_Message]
    tools: list[_Tool] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None


class ChatWire:
    """Decodes one request and encodes its reply."""

    content_type = "text/event-stream"

    def __init__(self, body: bytes) -> None:
        asked = msgspec.json.decode(body, type=_Request)
        self._with_usage = asked.stream_options is not None and asked.stream_options.include_usage
        self._model = asked.model
        self._id = "chatcmpl-scripted"
        system = [_text(m.content) for m in asked.messages if m.role in ("system", "developer")]
        names = {call.id: call.function.name for m in asked.messages for call in m.tool_calls or ()}
        messages = (_message(m, names) for m in asked.messages if m.role not in ("system", "developer"))
        self.asked = WireRequest(
            ModelRequest(
                model=asked.model,
                system="\n\n".join(system),
                messages=tuple(messages),
                tools=tuple(
                    ToolSpec(t.function.name, t.function.description, t.function.parameters)
                    for t in asked.tools or ()
                ),
            ),
            stream=bool(asked.stream),
        )

    def begin(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that start the stream."""
        self._model = scene.model
        return self._event({"role": "assistant", "content": ""})

    def chunk(self, scene: ScriptedReply, chunk: Chunk) -> bytes:
        """Return the bytes of one chunk."""
        match chunk:
            case TextChunk():
                return self._event({"content": chunk.text})
            case ReasoningChunk():
                return self._event({"reasoning_content": chunk.text})
            case CallChunk():
                return self._event({"tool_calls": [_call_piece(scene, chunk)]})

    def end(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that end the stream."""
        last = self._event({}, _FINISH[scene.stop_reason])
        if self._with_usage:
            last += encode_event(
                msgspec.json.encode(self._frame("chat.completion.chunk", [], usage(scene.usage)))
            )
        return last + encode_event(b"[DONE]")

    def whole(self, scene: ScriptedReply) -> dict[str, Any]:
        """Return the JSON reply to a request without streaming."""
        message: dict[str, Any] = {"role": "assistant", "content": scene.text or None, "refusal": None}
        if scene.reasoning:
            message["reasoning_content"] = scene.reasoning
        if scene.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args}}
                for call in scene.calls
            ]
        finish = _FINISH[scene.stop_reason]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        self._model = scene.model
        return self._frame("chat.completion", [choice], usage(scene.usage))

    def error(self, reason: Reason, message: str) -> ErrorResponse:
        """Return an error response in the vendor's format."""
        return error_response(reason, message)

    def error_event(self, reason: Reason, message: str) -> bytes:
        """Return an error event for a stream that has started."""
        return encode_event(msgspec.json.encode(error_response(reason, message).body))

    def _event(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return encode_event(msgspec.json.encode(self._frame("chat.completion.chunk", [choice], None)))

    def _frame(self, kind: str, choices: list[Any], used: dict[str, Any] | None) -> dict[str, Any]:
        frame = {"id": self._id, "object": kind, "created": CREATED, "model": self._model, "choices": choices}
        if used is not None:
            frame["usage"] = used
        return frame


def error_response(reason: Reason, message: str) -> ErrorResponse:
    """Return an error response in OpenAI's format."""
    status, kind, code = _ERRORS[reason]
    return ErrorResponse(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})


def usage(used: Usage) -> dict[str, Any]:
    """Return usage in OpenAI's format: the prompt includes cached tokens, the completion reasoning."""
    prompt = used.input + used.cache_read + used.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": used.output,
        "total_tokens": prompt + used.output,
        "prompt_tokens_details": {
            "cached_tokens": used.cache_read,
            "cache_write_tokens": used.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {"reasoning_tokens": used.reasoning, "audio_tokens": 0},
    }


def _call_piece(scene: ScriptedReply, chunk: CallChunk) -> dict[str, Any]:
    call = scene.calls[chunk.index]
    if not chunk.first:
        return {"index": chunk.index, "function": {"arguments": chunk.args}}
    piece = {"index": chunk.index, "type": "function", "function": {"name": call.name, "arguments": ""}}
    return piece | {"id": call.id} if call.id else piece


def _message(message: _Message, names: dict[str, str]) -> Message:
    if message.role == "tool":
        call_id = message.tool_call_id
        result = ToolResult(CallId(call_id), names.get(call_id, ""), _text(message.content))
        return Message("tool", (result,))
    parts: list[Part] = _parts(message.content)
    parts += [decode_args(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()]
    return Message("assistant" if message.role == "assistant" else "user", tuple(parts))


def _parts(content: str | list[_Content] | None) -> list[Part]:
    if not isinstance(content, list):
        return [Text(content)] if content else []
    return [
        Media("image/*", part.image_url.url.rpartition(",")[2]) if part.image_url else Text(part.text)
        for part in content
    ]


def _text(content: str | list[_Content] | None) -> str:
    return "".join(part.text for part in _parts(content) if isinstance(part, Text))
