"""Provider for OpenAI's Responses API, used statelessly: every request carries the whole conversation.

```
response.created, response.in_progress
  response.output_item.added                         a reasoning, message or function_call item starts
    response.reasoning_summary_text.delta            reasoning (reasoning_text: models that show it raw)
    response.output_text.delta | refusal.delta       text
    response.function_call_arguments.delta           arguments
  response.output_item.done                          the complete item, to send back later
response.completed | response.incomplete | response.failed | error
```

With `store: false` OpenAI keeps nothing, so reasoning arrives encrypted and is sent back unchanged. Items
and events of other types are ignored. A stream without one of the last four events was cut off.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.errors import ProviderError
from bridle.core.messages import Media, Message, Reasoning, StopReason, Text, ToolCall, ToolResult, Usage
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import Delta
from bridle.providers.errors import VendorError, parse_error, stream_error, truncation_error
from bridle.providers.http import Endpoint, decode_event
from bridle.providers.reply_builder import ReplyBuilder, reply_position
from bridle.providers.supported_schema import OPENAI, openai_format
from bridle.providers.wire_format import (
    EMPTY,
    VendorProvider,
    count_at,
    data_url,
    list_at,
    omitted_file_note,
    request_params,
    send_request,
    string_at,
    vendor_metadata,
    wire_args,
    wire_call_id,
    with_format,
)

WIRE = "openai"

_STOP_REASONS: dict[str, StopReason] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "content_filter",
}


class ResponsesProvider(VendorProvider):
    """Streams replies from a Responses endpoint."""

    dialect = OPENAI

    @staticmethod
    def url_below(base_url: str) -> str:
        """Return the address that requests are sent to."""
        return f"{base_url.rstrip('/')}/responses"

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive, then the whole reply; raises ProviderError."""
        effort = {"reasoning": {"effort": request.effort, "summary": "auto"}} if request.effort else {}
        params = request_params(request, self._params, effort, takes_temperature=False)
        return send_request(
            self._client,
            self._endpoint,
            self._prefixed(request),
            lambda asked: wire_body(asked, params),
            _Reader,
        )


open_provider = ResponsesProvider.at
"""What `factory.py` calls."""


# ---------------------------------------------------------------------------- request


def wire_body(request: ModelRequest, params: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request; `params` override every other field."""
    body: dict[str, Any] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _items(message)],
        "max_output_tokens": request.max_output_tokens,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if request.system:
        body["instructions"] = request.system
    if request.tools:
        # `strict` defaults to true, and a strict schema may not have optional properties.
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    schema = request.output_schema
    if schema is not None and (wanted := openai_format(schema, takes_any=False)):
        params = with_format(params, "text", {"type": "json_schema", **wanted})
    return body | params


def _items(message: Message) -> Iterator[dict[str, Any]]:
    match message.role:
        case "system":
            yield {"type": "message", "role": "developer", "content": message.text or EMPTY}
        case "user":
            yield {"type": "message", "role": "user", "content": _content(message.parts)}
        case "assistant":
            yield from _assistant_items(message)
        case "tool":
            for part in message.parts:
                if isinstance(part, ToolResult):
                    yield _result(part)


def _assistant_items(message: Message) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case Text() if part.text:
                _add_text(items, part)
            case Reasoning():
                items += _reasoning(part)
            case ToolCall():
                items.append(_call(part))
            case Text() | Media() | ToolResult():
                pass
    while items and items[-1]["type"] == "reasoning":
        items.pop()  # the API rejects reasoning that nothing follows
    return items


def _add_text(items: list[dict[str, Any]], part: Text) -> None:
    """Append a text part as a message item; parts of one message become one item again."""
    kept = vendor_metadata(part, WIRE)
    item_id = string_at(kept, "id")
    if not item_id:
        items.append({"type": "message", "role": "assistant", "content": part.text})
        return
    if not items or items[-1].get("id") != item_id:
        phase = {"phase": kept["phase"]} if kept.get("phase") else {}
        head = {"type": "message", "id": item_id, "role": "assistant", "status": "completed", **phase}
        items.append(head | {"content": []})
    if kept.get("is_refusal"):
        items[-1]["content"].append({"type": "refusal", "refusal": part.text})
    else:
        items[-1]["content"].append({"type": "output_text", "text": part.text, "annotations": []})


def _reasoning(part: Reasoning) -> list[dict[str, Any]]:
    """Return the item of reasoning that OpenAI encrypted; nothing for reasoning of other vendors."""
    kept = vendor_metadata(part, WIRE)
    item_id, encrypted = string_at(kept, "id"), string_at(kept, "encrypted_content")
    if not item_id or not encrypted:
        return []
    texts = list_at(kept, "summary") or ([part.text] if part.text else [])
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return [{"type": "reasoning", "id": item_id, "summary": summary, "encrypted_content": encrypted}]


def _call(call: ToolCall) -> dict[str, Any]:
    item = {
        "type": "function_call",
        "call_id": wire_call_id(call.id),
        "name": call.name,
        "arguments": msgspec.json.encode(wire_args(call)).decode(),
    }
    item_id = string_at(vendor_metadata(call, WIRE), "id")
    return item | {"id": item_id} if item_id else item


def _result(result: ToolResult) -> dict[str, Any]:
    output = (
        _content((Text(result.output), *map(_tool_result_part, result.media)))
        if result.media
        else result.output
    )
    return {"type": "function_call_output", "call_id": wire_call_id(result.call_id), "output": output}


def _tool_result_part(media: Media) -> Media | Text:
    """Return the file, or a note if its type may not be a tool result: the API would reject the request."""
    is_taken = media.mime.startswith("image/") or media.mime == "application/pdf"
    return media if is_taken else Text(omitted_file_note(media))


def _content(parts: Sequence[object]) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text) and part.text:
            content.append({"type": "input_text", "text": part.text})
        elif isinstance(part, Media):
            content.append(_media(part))
    return content or [{"type": "input_text", "text": EMPTY}]


def _media(media: Media) -> dict[str, Any]:
    match media.mime.partition("/")[0]:
        case "image":
            return {"type": "input_image", "image_url": data_url(media), "detail": "auto"}
        case "audio" | "video":
            return {"type": "input_text", "text": omitted_file_note(media)}
        case _:
            return {"type": "input_file", "filename": media.name or "file", "file_data": data_url(media)}


# ---------------------------------------------------------------------------- reply


class _Event(Struct, gc=False):
    """Any event; only the frequent fields have a precise type."""

    type: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: Any = None
    item: Any = None
    response: Any = None
    code: Any = None
    message: Any = None
    error: Any = None


_events = msgspec.json.Decoder(_Event)


class _Reader:
    """Decodes the events of one streamed reply."""

    def __init__(self, endpoint: Endpoint, request: ModelRequest) -> None:
        self.is_done = False
        self._endpoint = endpoint
        self._builder = ReplyBuilder(endpoint.who, reply_position(request))
        self._calls: dict[int, int] = {}
        """Call number by item index."""
        self._shown: set[int] = set()
        """Indexes of the items whose content arrived as deltas."""
        self._begun = 0
        self._message: dict[str, str] = {}
        """Id and phase of the open message."""
        self._is_fresh = True
        """True if the next text starts a new part."""
        self._stop_reason: StopReason = "end_turn"
        self._usage = Usage()
        self._model = ""

    def read(self, data: bytes) -> list[Delta]:
        """Read one event and return its deltas; raises ProviderError."""
        if self.is_done:
            return []
        event = decode_event(_events, self._endpoint.who, data)
        index = event.output_index or 0
        if event.type and event.type.endswith(".delta") and isinstance(event.delta, str):
            return self._read_delta(event.type, index, event.delta)
        match event.type:
            case "response.output_item.added":
                return self._begin(index, event.item)
            case "response.output_item.done":
                return self._end(index, event.item)
            case "response.content_part.added" if event.content_index:
                self._close()
            case "response.reasoning_summary_part.added" if event.summary_index:
                return [self._builder.reasoning("\n\n")]
            case "response.completed" | "response.incomplete" | "response.failed":
                self._finish(event.type, event.response)
            case "error":
                raise self._failure(event.error or {"code": event.code, "message": event.message})
            case _:
                pass
        return []

    def reply(self) -> ModelReply:
        """Return the whole reply; raises ProviderError if the stream ended early."""
        if not self.is_done:
            raise truncation_error(self._endpoint.who)
        return self._builder.finish(self._stop_reason, self._usage, self._model)

    def _read_delta(self, kind: str, index: int, fragment: str) -> list[Delta]:
        if not fragment:
            return []
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                return [self._text(index, fragment, is_refusal=kind == "response.refusal.delta")]
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._shown.add(index)
                return [self._builder.reasoning(fragment)]
            case "response.function_call_arguments.delta" if index in self._calls:
                self._shown.add(index)
                return [self._builder.call(self._calls[index], args=fragment)]
            case _:
                return []

    def _text(self, index: int, fragment: str, *, is_refusal: bool) -> Delta:
        self._shown.add(index)
        delta = self._builder.text(fragment)
        if self._is_fresh:
            self._is_fresh = False
            refusal = {"is_refusal": True} if is_refusal else {}
            self._builder.mark("text", WIRE, **self._message, **refusal)
        return delta

    def _begin(self, index: int, item: Any) -> list[Delta]:
        self._close()
        kind = string_at(item, "type")
        self._message = _identity(item) if kind == "message" else {}
        if kind != "function_call":
            return []
        number = self._calls[index] = self._begun
        self._begun += 1
        call_id, name = string_at(item, "call_id"), string_at(item, "name")
        delta = self._builder.call(number, call_id=call_id, name=name)
        self._builder.add_call_metadata(number, WIRE, **_identity(item))
        return [delta]

    def _end(self, index: int, item: Any) -> list[Delta]:
        """Read what only the complete item contains, or all of it if no deltas came."""
        deltas: list[Delta] = []
        is_new = index not in self._shown
        match string_at(item, "type"):
            case "function_call" if is_new:
                deltas += [] if index in self._calls else self._begin(index, item)
                deltas.append(self._builder.call(self._calls[index], args=string_at(item, "arguments")))
            case "message" if is_new:
                self._message = _identity(item)
                for part in list_at(item, "content"):
                    refusal = string_at(part, "refusal")
                    if text := refusal or string_at(part, "text"):
                        deltas.append(self._text(index, text, is_refusal=bool(refusal)))
                        self._close()
            case "reasoning":
                texts = [string_at(part, "text") for part in list_at(item, "summary")]
                if is_new and any(texts):
                    deltas.append(self._builder.reasoning("\n\n".join(texts)))
                if encrypted := string_at(item, "encrypted_content"):
                    several = {"summary": texts} if len(texts) > 1 else {}
                    kept = {**_identity(item), "encrypted_content": encrypted, **several}
                    self._builder.mark("reasoning", WIRE, **kept)
            case _:
                pass
        self._close()
        return deltas

    def _close(self) -> None:
        self._builder.close()
        self._is_fresh = True

    def _finish(self, kind: str, response: Any) -> None:
        if kind == "response.failed":
            raise self._failure(response.get("error") if isinstance(response, dict) else None)
        self.is_done = True
        self._model = string_at(response, "model")
        self._usage = _usage(response)
        if kind == "response.incomplete":
            why = string_at(response, "incomplete_details", "reason")
            self._stop_reason = _STOP_REASONS.get(why, "max_tokens")

    def _failure(self, error: Any) -> ProviderError:
        found = parse_error({"error": error}) or VendorError()
        return stream_error(self._endpoint.who, found, secrets=self._endpoint.secrets)


def _identity(item: Any) -> dict[str, str]:
    return {name: found for name in ("id", "phase") if (found := string_at(item, name))}


def _usage(response: Any) -> Usage:
    """Count each token once: OpenAI's input includes cached tokens, its output includes reasoning."""
    cache_read = count_at(response, "usage", "input_tokens_details", "cached_tokens")
    cache_write = count_at(response, "usage", "input_tokens_details", "cache_write_tokens")
    return Usage(
        input=max(0, count_at(response, "usage", "input_tokens") - cache_read - cache_write),
        output=count_at(response, "usage", "output_tokens"),
        cache_read=cache_read,
        cache_write=cache_write,
        reasoning=count_at(response, "usage", "output_tokens_details", "reasoning_tokens"),
    )
