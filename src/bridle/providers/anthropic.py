"""Provider for Anthropic's Messages API.

```
message_start                                             model, input tokens
  content_block_start   index, {type: text | thinking | redacted_thinking | tool_use | …}
  content_block_delta   text_delta | thinking_delta | signature_delta | input_json_delta | …
  content_block_stop
message_delta                                             stop reason, output tokens
message_stop
error                                                     at any time, under HTTP 200
```

Thinking is sent back unchanged with its signature, or not at all. Blocks and events of other types are
ignored. A stream that ends before a stop reason was cut off, even if the connection closed cleanly.
"""

import re
from collections.abc import AsyncGenerator
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.messages import Media, Part, Reasoning, StopReason, Text, ToolCall, ToolResult, Usage
from bridle.core.model import Effort, ModelReply, ModelRequest
from bridle.core.protocol import Delta
from bridle.providers.errors import VendorError, parse_error, stream_error, truncation_error
from bridle.providers.http import Endpoint, decode_event
from bridle.providers.reply_builder import ReplyBuilder, reply_position
from bridle.providers.supported_schema import ANTHROPIC, reduce_schema
from bridle.providers.wire_format import (
    Turn,
    VendorProvider,
    add_api_version,
    count_at,
    decode_text,
    merge_turns,
    omitted_file_note,
    request_params,
    send_request,
    string_at,
    vendor_metadata,
    wire_args,
    wire_call_id,
    with_format,
)

WIRE = "anthropic"
API_VERSION = "2026-10-21"
MAX_BREAKPOINTS = 4
MIN_BUDGET = 1024  # tokens of thinking; fewer are refused
BUDGETS: dict[Effort, int] = {
    "minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 24_576, "max": 32_768,
}  # fmt: skip
_BUDGETED = re.compile(r"claude-\d|-4-[0-5](?!\d)|-4-20\d{6}")  # Claude models without levels
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "content_filter",
    "pause_turn": "end_turn",  # only server-side tools pause, and we offer none
}


class AnthropicProvider(VendorProvider):
    """Streams replies from a Messages endpoint."""

    dialect = ANTHROPIC

    @staticmethod
    def url_below(base_url: str) -> str:
        """Return the address that requests are sent to."""
        return f"{add_api_version(base_url, 'v1')}/messages"

    @staticmethod
    def key_headers(key: str) -> dict[str, str]:
        """Return the headers of every request, with the key unless it is empty."""
        return {"anthropic-version": API_VERSION, **VendorProvider.key_headers(key)}

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive, then the whole reply; raises ProviderError."""
        params = request_params(request, self._params, _effort(request), takes_temperature=False)
        return send_request(
            self._client,
            self._endpoint,
            self._prefixed(request),
            lambda asked: wire_body(asked, params),
            _Reader,
        )


class CloudAnthropicProvider(AnthropicProvider):
    """Streams replies of Claude from a cloud, where the address names the model."""

    version: ClassVar[str]
    path: ClassVar[str]
    """The path of requests, with a place for the model."""
    left_out: ClassVar[tuple[str, ...]] = ("model",)
    """Fields of the body that the address replaces."""

    @staticmethod
    def url_below(base_url: str) -> str:
        """Return the address that the paths of requests are added to."""
        return base_url.rstrip("/")

    @staticmethod
    def key_headers(key: str) -> dict[str, str]:
        """Return no headers: requests are signed."""
        return {}

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive, then the whole reply; raises ProviderError."""
        params = request_params(request, self._params, _effort(request), takes_temperature=False)
        path = self.path.format(quote(request.model, safe=":@"))
        endpoint = replace(self._endpoint, url=f"{self._endpoint.url}/{path}")

        def body(asked: ModelRequest) -> dict[str, Any]:
            whole = wire_body(asked, params).items()
            kept = {name: value for name, value in whole if name not in self.left_out}
            return {"anthropic_version": self.version, **kept}

        return send_request(self._client, endpoint, self._prefixed(request), body, _Reader)


class BedrockProvider(CloudAnthropicProvider):
    """Streams replies of Claude from Amazon Bedrock."""

    version = "bedrock-2023-05-31"
    path = "model/{}/invoke-with-response-stream"
    left_out = ("model", "stream")


class VertexProvider(CloudAnthropicProvider):
    """Streams replies of Claude from Vertex AI of Google Cloud."""

    version = "vertex-2023-10-16"
    path = "{}:streamRawPredict"


open_provider = AnthropicProvider.at
"""What `factory.py` calls."""


# ---------------------------------------------------------------------------- request


def _effort(request: ModelRequest) -> dict[str, Any]:
    """Return the parameters for the effort: a level for newer models, a budget for others."""
    effort = request.effort
    if effort is None:
        return {}
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if "claude" in request.model and not _BUDGETED.search(request.model):
        level = "low" if effort == "minimal" else effort
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": level}}
    budget = min(BUDGETS[effort], request.max_output_tokens - MIN_BUDGET)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= MIN_BUDGET else {}


def wire_body(request: ModelRequest, params: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request; `params` override every other field."""
    messages = [
        {"role": turn.role, "content": _content(turn)} for turn in merge_turns(request.messages, _can_send)
    ]
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": messages,
        "stream": True,
    }
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system}]
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    _set_breakpoints(body, params)
    schema = None if request.output_schema is None else reduce_schema(request.output_schema, ANTHROPIC).schema
    if schema is not None:
        params = with_format(params, "output_config", {"type": "json_schema", "schema": schema})
    return body | params


def _set_breakpoints(body: dict[str, Any], params: dict[str, Any]) -> None:
    """Cache the prompt up to the last tool, the system prompt and the last two messages.

    Breakpoints in `params` count toward the four that the API allows. A `cache_control` in `params` is used
    for ours too, because the API rejects a longer lifetime after a shorter one; None turns caching off.
    """
    ends = [message["content"][-1] for message in body["messages"][-2:]]
    places = [*reversed(ends), *body.get("system", []), *body.get("tools", [])[-1:]]
    mark = params.get("cache_control", {"type": "ephemeral"})
    room = max(0, MAX_BREAKPOINTS - _count_breakpoints(params)) if mark else 0
    for block in places[:room]:
        block["cache_control"] = mark


def _count_breakpoints(value: Any) -> int:
    if isinstance(value, dict):
        return bool(value.get("cache_control")) + sum(map(_count_breakpoints, value.values()))
    return sum(map(_count_breakpoints, value)) if isinstance(value, list | tuple) else 0


def _can_send(part: Part) -> bool:
    match part:
        case Text():
            return bool(part.text.strip())  # the API rejects a blank block
        case Reasoning():
            return _thinking(part) is not None
        case ToolCall():
            return True
        case Media() | ToolResult():
            return False


def _content(turn: Turn) -> list[dict[str, Any]]:
    """Return the content blocks of a turn; the API wants tool results first."""
    return [*map(_result, turn.results), *(_block(part) for part in turn.parts)]


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Reasoning():
            return _thinking(part) or {}
        case Media():
            return _media(part)
        case ToolCall():
            return {
                "type": "tool_use",
                "id": wire_call_id(part.id),
                "name": part.name,
                "input": wire_args(part),
            }
        case ToolResult():
            return _result(part)


def _thinking(part: Reasoning) -> dict[str, Any] | None:
    kept = vendor_metadata(part, WIRE)
    if redacted := string_at(kept, "redacted"):
        return {"type": "redacted_thinking", "data": redacted}
    if signature := string_at(kept, "signature"):
        return {"type": "thinking", "thinking": part.text, "signature": signature}
    return None


def _result(result: ToolResult) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": wire_call_id(result.call_id)}
    text = [{"type": "text", "text": result.output}] if result.output.strip() else []
    if content := [*text, *map(_media, result.media)]:
        block["content"] = content
    if result.is_error:
        block["is_error"] = True
    return block


def _media(media: Media) -> dict[str, Any]:
    if media.mime in _IMAGES:
        source = {"type": "base64", "media_type": media.mime, "data": media.data}
        return {"type": "image", "source": source}
    title = {"title": media.name} if media.name else {}
    if media.mime == "application/pdf":
        source = {"type": "base64", "media_type": media.mime, "data": media.data}
        return {"type": "document", "source": source, **title}
    if text := decode_text(media):
        return {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": text},
            **title,
        }
    return {"type": "text", "text": omitted_file_note(media)}


# ---------------------------------------------------------------------------- reply


class _Delta(Struct, gc=False):
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Event(Struct, gc=False):
    """Any event; only the frequent fields have a precise type."""

    type: str | None = None
    index: int | None = None
    delta: _Delta | str | None = None
    content_block: Any = None
    message: Any = None
    usage: Any = None
    error: Any = None


_events = msgspec.json.Decoder(_Event)


class _Reader:
    """Decodes the events of one streamed reply."""

    def __init__(self, endpoint: Endpoint, request: ModelRequest) -> None:
        self.is_done = False
        self._endpoint = endpoint
        self._builder = ReplyBuilder(endpoint.who, reply_position(request))
        self._calls: dict[int, int] = {}
        """Call number by content block index."""
        self._begun = 0
        self._stop_reason = ""
        self._usage: dict[str, Any] = {}
        self._model = ""

    def read(self, data: bytes) -> list[Delta]:
        """Read one event and return its deltas; raises ProviderError."""
        if self.is_done:
            return []
        event = decode_event(_events, self._endpoint.who, data)
        match event.type:
            case "content_block_delta":
                return self._add(event.delta, event.index or 0) if isinstance(event.delta, _Delta) else []
            case "content_block_start":
                return self._start(event.index or 0, event.content_block)
            case "message_start":
                self._model = string_at(event.message, "model")
                self._count(event.message.get("usage") if isinstance(event.message, dict) else None)
            case "message_delta":
                if isinstance(event.delta, _Delta) and event.delta.stop_reason:
                    self._stop_reason = event.delta.stop_reason
                self._count(event.usage)
            case "message_stop":
                self.is_done = True
            case "error":
                error = parse_error({"error": event.error}) or VendorError()
                raise stream_error(self._endpoint.who, error, secrets=self._endpoint.secrets)
            case _:
                pass
        return []

    def reply(self) -> ModelReply:
        """Return the whole reply; raises ProviderError if the stream ended early."""
        if not self._stop_reason and not self.is_done:
            raise truncation_error(self._endpoint.who)
        stop_reason = _STOP_REASONS.get(self._stop_reason, "end_turn")
        reply = self._builder.finish(stop_reason, _usage(self._usage), self._model)
        is_full = self._stop_reason == "model_context_window_exceeded"
        if is_full and not reply.message.calls and not reply.message.text.strip():
            full = VendorError("the context window is full", ("context_length_exceeded",))
            raise stream_error(self._endpoint.who, full)
        return reply

    def _start(self, index: int, block: Any) -> list[Delta]:
        self._builder.close()
        self._calls.pop(index, None)
        match string_at(block, "type"):
            case "text":
                return self._add(_Delta(text=string_at(block, "text")), index)
            case "thinking":
                return self._add(_Delta(thinking=string_at(block, "thinking")), index)
            case "redacted_thinking":
                self._builder.mark("reasoning", WIRE, redacted=string_at(block, "data"))
                self._builder.close()
            case "tool_use":
                number = self._calls[index] = self._begun
                self._begun += 1
                # Anthropic starts a call without arguments; some compatible servers send all of them here.
                args = msgspec.json.encode(block["input"]).decode() if block.get("input") else ""
                name = string_at(block, "name")
                return [self._builder.call(number, call_id=string_at(block, "id"), name=name, args=args)]
            case _:
                pass
        return []

    def _add(self, delta: _Delta, index: int) -> list[Delta]:
        if delta.text:
            return [self._builder.text(delta.text)]
        if delta.thinking:
            return [self._builder.reasoning(delta.thinking)]
        if delta.signature:
            self._builder.mark("reasoning", WIRE, signature=delta.signature)
        elif delta.partial_json and index in self._calls:
            return [self._builder.call(self._calls[index], args=delta.partial_json)]
        return []

    def _count(self, usage: Any) -> None:
        """Update the running totals; a missing count keeps its value."""
        if isinstance(usage, dict):
            self._usage |= {name: count for name, count in usage.items() if count is not None}


def _usage(usage: dict[str, Any]) -> Usage:
    """Count each token once: Anthropic's input excludes cached tokens, its output includes thinking."""
    return Usage(
        input=count_at(usage, "input_tokens"),
        output=count_at(usage, "output_tokens"),
        cache_read=count_at(usage, "cache_read_input_tokens"),
        cache_write=count_at(usage, "cache_creation_input_tokens"),
        reasoning=count_at(usage, "output_tokens_details", "thinking_tokens"),
    )
