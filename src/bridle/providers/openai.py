"""Provider for OpenAI's Chat Completions API, at OpenAI and at compatible servers.

```
data: {"choices":[{"delta":{"content":"Hel"}}]}                          text
data: {"choices":[{"delta":{"reasoning_content":"…"}}]}                  reasoning (some servers: `reasoning`)
data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":…,"function":{"name":…,"arguments":"{\\"pa"}}]}}]}
data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}            the reply is complete
data: {"choices":[],"usage":{"prompt_tokens":…}}                         because of stream_options
data: [DONE]
```

A stream that ends before `finish_reason` or `[DONE]` was cut off, even if the connection closed cleanly.
"""

import hashlib
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.messages import Media, Message, Reasoning, StopReason, Text, ToolCall, ToolResult, Usage
from bridle.core.model import Effort, ModelReply, ModelRequest
from bridle.core.protocol import Delta
from bridle.providers.errors import VendorError, parse_error, stream_error, truncation_error
from bridle.providers.http import Endpoint, HttpClient, decode_event
from bridle.providers.reply_builder import ReplyBuilder, reply_position
from bridle.providers.supported_schema import OPENAI, openai_format
from bridle.providers.vendors import Quirks, vendor_at
from bridle.providers.wire_format import VendorProvider, omitted_file_note, request_params, send_request

MAX_COST = 10_000.0  # dollars for one reply; more is a mistake
_PLAIN = Quirks()
_encode = msgspec.json.Encoder().encode

_STOP_REASONS: dict[str, StopReason] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "content_filter",
}


class OpenAIProvider(VendorProvider):
    """Streams replies from a Chat Completions endpoint."""

    dialect = OPENAI

    def __init__(
        self,
        endpoint: Endpoint,
        client: HttpClient,
        *,
        params: dict[str, Any] | None = None,
        system_prefix: str = "",
    ) -> None:
        vendor = vendor_at(endpoint.url)
        super().__init__(endpoint, client, params=params, system_prefix=system_prefix)
        self._quirks = vendor.quirks if vendor else _PLAIN

    @staticmethod
    def url_below(base_url: str) -> str:
        """Return the address that requests are sent to."""
        return f"{base_url.rstrip('/')}/chat/completions"

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive, then the whole reply; raises ProviderError."""
        effort = _effort(request.effort, self._quirks)
        takes_temperature = self._quirks.takes_temperature
        params = request_params(request, self._params, effort, takes_temperature=takes_temperature)
        return send_request(
            self._client,
            self._endpoint,
            self._prefixed(request),
            lambda asked: self._body(asked, params),
            lambda endpoint, asked: _Reader(endpoint, asked, self._quirks),
        )

    def _body(self, request: ModelRequest, params: dict[str, Any]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "messages": wire_messages(request, self._quirks),
            "stream": True,
            self._quirks.limit_key: request.max_output_tokens,
        }
        if self._quirks.has_stream_options:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = [{"type": "function", "function": tool} for tool in request.tools]
        schema = request.output_schema
        if schema is not None and (wanted := openai_format(schema, takes_any=self._quirks.takes_any_schema)):
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return body | params


open_provider = OpenAIProvider.at
"""What `factory.py` calls."""


# ---------------------------------------------------------------------------- request


def _effort(effort: Effort | None, quirks: Quirks) -> dict[str, Any]:
    match quirks.effort_key:
        case _ if effort is None:
            return {}
        case "reasoning_effort":
            return {"reasoning_effort": effort}
        case "reasoning":
            return {"reasoning": {"effort": effort}}
        case "thinking":
            if effort == "none":
                return {"thinking": {"type": "disabled"}}
            return {"thinking": {"type": "enabled"}, "reasoning_effort": effort}


def wire_messages(request: ModelRequest, quirks: Quirks = _PLAIN) -> list[dict[str, Any]]:
    """Return the conversation as Chat Completions messages."""
    wire: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    for message in request.messages:
        match message.role:
            case "assistant":
                wire += _assistant(message, quirks)
            case "tool":
                wire += _results([part for part in message.parts if isinstance(part, ToolResult)], quirks)
            case "user":
                wire.append({"role": "user", "content": _content(message.parts)})
            case "system":
                wire.append({"role": "system", "content": message.text})
    return wire


def _assistant(message: Message, quirks: Quirks) -> list[dict[str, Any]]:
    wire: dict[str, Any] = {"role": "assistant"}
    texts, calls = [], []
    for part in message.parts:  # one pass, because every turn sends all parts again
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, ToolCall):
            calls.append(_wire_call(part, quirks))
    if text := "".join(texts):
        wire["content"] = text
    if calls:
        wire["tool_calls"] = calls
        if quirks.reasoning_key:
            wire[quirks.reasoning_key] = message.reasoning
    return [wire] if len(wire) > 1 else []  # reasoning alone cannot be sent back


def _wire_call(call: ToolCall, quirks: Quirks) -> dict[str, Any]:
    # Servers parse earlier arguments for their prompt template, so invalid ones are wrapped in valid JSON.
    args = {"invalid_json": call.invalid} if call.invalid else call.args
    function = {"name": call.name, "arguments": _encode(args).decode()}
    return {"id": _wire_id(call.id, quirks), "type": "function", "function": function}


def _wire_id(call_id: str, quirks: Quirks) -> str:
    """Return an id in the length the vendor requires; any other id is hashed, so it maps to the same id."""
    length = quirks.call_id_chars
    if not length or re.fullmatch(rf"[A-Za-z0-9]{{{length}}}", call_id):
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _results(results: list[ToolResult], quirks: Quirks) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": _wire_id(result.call_id, quirks), "content": result.output}
        for result in results
    ]
    # A tool message takes only text; media follows in a user message.
    for result in results:
        if result.media:
            sent = (
                media if media.mime.startswith("image/") else Text(omitted_file_note(media))
                for media in result.media
            )
            wire.append({"role": "user", "content": _content((Text(f"From {result.name}:"), *sent))})
    return wire


def _content(parts: Sequence[Text | Reasoning | Media | ToolCall | ToolResult]) -> str | list[dict[str, Any]]:
    if not any(isinstance(part, Media) for part in parts):
        return "".join(part.text for part in parts if isinstance(part, Text))
    content: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text():
                content.append({"type": "text", "text": part.text})
            case Media():
                content.append(_media(part))
            case Reasoning() | ToolCall() | ToolResult():
                pass
    return content


def _media(media: Media) -> dict[str, Any]:
    url = f"data:{media.mime};base64,{media.data}"
    kind, _, form = media.mime.partition("/")
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    if kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": form}}
    return {"type": "file", "file": {"filename": media.name or "file", "file_data": url}}


# ---------------------------------------------------------------------------- reply


class _Function(Struct, gc=False):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _CallPiece(Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct, gc=False):
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallPiece] | None = None


class _Choice(Struct, gc=False):
    delta: _Delta | None = None
    finish_reason: str | None = None
    index: int = 0


class _PromptDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _CompletionDetails(Struct):
    reasoning_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None
    cost: Any = None
    is_byok: Any = None


class _Chunk(Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Chunk)


class _Reader:
    """Decodes the events of one streamed reply."""

    def __init__(self, endpoint: Endpoint, request: ModelRequest, quirks: Quirks = _PLAIN) -> None:
        self.is_done = False
        self._endpoint = endpoint
        self._builder = ReplyBuilder(endpoint.who, reply_position(request))
        self._last_call = -1
        self._stop_reason: StopReason | None = None
        self._usage = Usage()
        self._cost: float | None = None
        self._quirks = quirks
        self._model = ""

    def read(self, data: bytes) -> list[Delta]:
        """Read one event and return its deltas; raises ProviderError."""
        if self.is_done or data == b"[DONE]":
            self.is_done = True
            return []
        chunk = decode_event(_decoder, self._endpoint.who, data)
        if chunk.error:
            raise self._failure(chunk.error)
        if chunk.model and not self._model:
            self._model = chunk.model
        if chunk.usage:
            self._usage = _usage(chunk.usage)
            self._cost = _cost(chunk.usage) if self._quirks.reports_cost else None
        deltas: list[Delta] = []
        for choice in chunk.choices or ():
            if choice.index == 0:
                if choice.delta:
                    self._read_delta(choice.delta, deltas)
                if choice.finish_reason:
                    self._stop_reason = _STOP_REASONS.get(choice.finish_reason, "end_turn")
        return deltas

    def reply(self) -> ModelReply:
        """Return the whole reply; raises ProviderError if the stream ended early."""
        if self._stop_reason is None and not self.is_done:
            raise truncation_error(self._endpoint.who)
        reply = self._builder.finish(self._stop_reason or "end_turn", self._usage, self._model)
        return reply if self._cost is None else replace(reply, cost=self._cost)

    def _read_delta(self, delta: _Delta, deltas: list[Delta]) -> None:
        if reasoning := delta.reasoning_content or delta.reasoning:
            deltas.append(self._builder.reasoning(reasoning))
        if isinstance(delta.content, list):
            deltas.extend(self._read_chunks(delta.content))
        elif text := delta.content or delta.refusal:
            deltas.append(self._builder.text(text))
        if delta.tool_calls:
            deltas.extend(map(self._read_call, delta.tool_calls))

    def _read_chunks(self, chunks: list[Any]) -> Iterator[Delta]:
        """Read content that is a list of typed chunks; Mistral's models send their reasoning this way."""
        for chunk in chunks:
            match chunk:
                case {"type": "thinking", "thinking": list(thoughts)}:
                    yield from map(self._builder.reasoning, filter(None, map(_text_of, thoughts)))
                case _ if text := _text_of(chunk):
                    yield self._builder.text(text)
                case _:
                    pass

    def _read_call(self, piece: _CallPiece) -> Delta:
        function = piece.function or _Function()
        index = self._index(piece, function)
        self._last_call = max(self._last_call, index)
        args = function.arguments or ""
        return self._builder.call(
            index,
            call_id=piece.id or "",
            name=function.name or "",
            args=args if isinstance(args, str) else msgspec.json.encode(args).decode(),
        )

    def _index(self, piece: _CallPiece, function: _Function) -> int:
        """Return the index of the call a piece belongs to; some servers number all calls 0, or none."""
        index = self._last_call if piece.index is None else piece.index
        known = self._builder.call_id(index)
        begins_another = bool(piece.id and function.name) and known is not None and piece.id != known
        if begins_another or index < 0:
            return self._last_call + 1
        return index

    def _failure(self, error: Any) -> Exception:
        found = parse_error({"error": error}) or VendorError(str(error))
        return stream_error(self._endpoint.who, found, secrets=self._endpoint.secrets)


def _text_of(chunk: Any) -> str:
    match chunk:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return ""


def _cost(usage: _Usage) -> float | None:
    """Return the reported cost; None if another vendor sends the bill, or if it is no amount."""
    cost = usage.cost
    if usage.is_byok or isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) if 0 <= cost <= MAX_COST else None


def _usage(usage: _Usage) -> Usage:
    """Count each token once: OpenAI's prompt includes cached tokens, its completion includes reasoning."""
    prompt, details = usage.prompt_tokens or 0, usage.prompt_tokens_details or _PromptDetails()
    cache_read, cache_write = details.cached_tokens or 0, details.cache_write_tokens or 0
    completion = usage.completion_tokens_details or _CompletionDetails()
    return Usage(
        input=max(0, prompt - cache_read - cache_write),
        output=usage.completion_tokens or 0,
        cache_read=cache_read,
        cache_write=cache_write,
        reasoning=completion.reasoning_tokens or 0,
    )
