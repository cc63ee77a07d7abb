"""Server side of OpenAI's Responses API.

```
response.created, response.in_progress
  response.output_item.added                    one item for the reasoning, one for the text, one per call
    response.reasoning_summary_part.added, …text.delta, …text.done, …part.done
    response.content_part.added, response.output_text.delta, …done, response.content_part.done
    response.function_call_arguments.delta, …done
  response.output_item.done
response.completed | response.incomplete
```
"""

from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.messages import Message, Part, Reasoning, Role, Text, ToolResult, Usage
from bridle.core.model import ModelRequest
from bridle.core.tool import ToolSpec
from bridle.providers.script import Reason
from bridle.providers.scripted_reply import CallChunk, Chunk, ReasoningChunk, ScriptedReply, TextChunk
from bridle.providers.scripted_server.chat import CREATED, error_response
from bridle.providers.scripted_server.wire_request import ErrorResponse, WireRequest, decode_args
from bridle.providers.sse import encode_event

_INCOMPLETE = {"max_tokens": "max_output_tokens", "content_filter": "content_filter"}


class _Content(Struct):
    type: str
    text: str = ""


class _Item(Struct):
    type: str = "message"
    role: str = ""
    content: str | list[_Content] | None = None
    call_id: str | None = None
    name: str = ""
    arguments: str = ""
    output: str | list[_Content] = ""


class _Tool(Struct):
    type: str
    name: str = ""
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _Request(Struct):
    model: str
    input: str | list[_Item]
    instructions: str | None = None
    tools: list[_Tool] | None = None
    stream: bool | None = None


class ResponsesWire:
    """Decodes one request and encodes its reply."""

    content_type = "text/event-stream"

    def __init__(self, body: bytes) -> None:
        asked = msgspec.json.decode(body, type=_Request)
        items = [_Item(role="user", content=asked.input)] if isinstance(asked.input, str) else asked.input
        system = [asked.instructions or "", *(_text(i.content) for i in items if _is_system(i))]
        self.asked = WireRequest(
            ModelRequest(
                model=asked.model,
                system="\n\n".join(text for text in system if text),
                messages=_messages([item for item in items if not _is_system(item)]),
                tools=tuple(
                    ToolSpec(tool.name, tool.description or "", tool.parameters or {})
                    for tool in asked.tools or ()
                ),
            ),
            stream=bool(asked.stream),
        )
        self._sequence = 0
        self._items: list[dict[str, Any]] = []
        """The items sent so far; the last one is open until `_close`."""

    def begin(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that start the stream."""
        response = self._response(scene, "in_progress", [])
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def chunk(self, scene: ScriptedReply, chunk: Chunk) -> bytes:
        """Return the bytes of one chunk, with the start of its item if it opens one."""
        whole = _item_of(scene, chunk)
        opening = b"" if self._items and self._items[-1]["id"] == whole["id"] else self._open(whole)
        at: dict[str, Any] = {"item_id": whole["id"], "output_index": len(self._items) - 1}
        match chunk:
            case ReasoningChunk():
                kind, place = "response.reasoning_summary_text.delta", {"summary_index": 0}
                return opening + self._event(kind, **at, **place, delta=chunk.text)
            case TextChunk():
                kind, more = "response.output_text.delta", {"content_index": 0, "logprobs": []}
                return opening + self._event(kind, **at, **more, delta=chunk.text)
            case CallChunk(args=""):
                return opening
            case CallChunk():
                return opening + self._event("response.function_call_arguments.delta", **at, delta=chunk.args)

    def end(self, scene: ScriptedReply) -> bytes:
        """Return the bytes that end the stream."""
        closing = self._close()
        status = "incomplete" if scene.stop_reason in _INCOMPLETE else "completed"
        return closing + self._event(f"response.{status}", response=self.whole(scene))

    def whole(self, scene: ScriptedReply) -> dict[str, Any]:
        """Return the JSON reply to a request without streaming."""
        status = "incomplete" if scene.stop_reason in _INCOMPLETE else "completed"
        return self._response(scene, status, _items(scene)) | {"usage": _usage(scene.usage)}

    def error(self, reason: Reason, message: str) -> ErrorResponse:
        """Return an error response in the vendor's format."""
        return error_response(reason, message)

    def error_event(self, reason: Reason, message: str) -> bytes:
        """Return an error event for a stream that has started."""
        error = error_response(reason, message).body["error"]
        code = error["code"] or error["type"]
        return self._event("error", code=code, message=message, param=None)

    def _open(self, whole: dict[str, Any]) -> bytes:
        opening = self._close()
        self._items.append(whole)
        place = len(self._items) - 1
        blank = whole | {"status": "in_progress"} | _blank(whole)
        opening += self._event("response.output_item.added", output_index=place, item=blank)
        at: dict[str, Any] = {"item_id": whole["id"], "output_index": place}
        if whole["type"] == "reasoning":
            blank_summary = {"type": "summary_text", "text": ""}
            kind = "response.reasoning_summary_part.added"
            return opening + self._event(kind, **at, summary_index=0, part=blank_summary)
        if whole["type"] == "message":
            blank_text = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            kind = "response.content_part.added"
            return opening + self._event(kind, **at, content_index=0, part=blank_text)
        return opening

    def _close(self) -> bytes:
        if not self._items:
            return b""
        item, place = self._items[-1], len(self._items) - 1
        at: dict[str, Any] = {"item_id": item["id"], "output_index": place}
        return self._close_part(item, at) + self._event(
            "response.output_item.done", output_index=place, item=item
        )

    def _close_part(self, item: dict[str, Any], at: dict[str, Any]) -> bytes:
        match item["type"]:
            case "reasoning":
                part = item["summary"][0]
                done = self._event(
                    "response.reasoning_summary_text.done", **at, summary_index=0, text=part["text"]
                )
                kind = "response.reasoning_summary_part.done"
                return done + self._event(kind, **at, summary_index=0, part=part)
            case "message":
                part = item["content"][0]
                done = self._event(
                    "response.output_text.done", **at, content_index=0, text=part["text"], logprobs=[]
                )
                return done + self._event("response.content_part.done", **at, content_index=0, part=part)
            case _:
                kind = "response.function_call_arguments.done"
                return self._event(kind, **at, arguments=item["arguments"])

    def _event(self, kind: str, **fields: Any) -> bytes:
        event = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return encode_event(msgspec.json.encode(event), kind)

    def _response(self, scene: ScriptedReply, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        reason = _INCOMPLETE.get(scene.stop_reason) if status == "incomplete" else None
        return {
            "id": "resp_scripted",
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": self.asked.request.system or None,
            "metadata": {},
            "model": scene.model,
            "output": output,
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": None,
        }


def _items(scene: ScriptedReply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if scene.reasoning:
        items.append(_reasoning_item(scene))
    if scene.text:
        items.append(_text_item(scene))
    return items + [_call_item(scene, index) for index in range(len(scene.calls))]


def _item_of(scene: ScriptedReply, chunk: Chunk) -> dict[str, Any]:
    match chunk:
        case ReasoningChunk():
            return _reasoning_item(scene)
        case TextChunk():
            return _text_item(scene)
        case CallChunk():
            return _call_item(scene, chunk.index)


def _reasoning_item(scene: ScriptedReply) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": scene.reasoning}]
    return {
        "id": f"rs_{scene.turn}",
        "type": "reasoning",
        "summary": summary,
        "encrypted_content": f"sealed-{scene.turn}",
        "status": "completed",
    }


def _text_item(scene: ScriptedReply) -> dict[str, Any]:
    content = [{"type": "output_text", "text": scene.text, "annotations": [], "logprobs": []}]
    return {
        "id": f"msg_{scene.turn}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _call_item(scene: ScriptedReply, index: int) -> dict[str, Any]:
    call = scene.calls[index]
    return {
        "id": f"fc_{scene.turn}_{index}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.args,
    }


def _blank(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item without content, as the `added` event shows it."""
    match item["type"]:
        case "reasoning":
            return {"summary": []}
        case "message":
            return {"content": []}
        case _:
            return {"arguments": ""}


def _usage(used: Usage) -> dict[str, Any]:
    total = used.input + used.cache_read + used.cache_write
    return {
        "input_tokens": total,
        "input_tokens_details": {"cached_tokens": used.cache_read, "cache_write_tokens": used.cache_write},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.reasoning},
        "total_tokens": total + used.output,
    }


def _is_system(item: _Item) -> bool:
    return item.type == "message" and item.role in ("system", "developer")


def _messages(items: list[_Item]) -> tuple[Message, ...]:
    """Return the messages of a conversation; consecutive items of the model become one message."""
    names = {item.call_id: item.name for item in items if item.type == "function_call"}
    messages: list[tuple[Role, list[Part]]] = []
    for item in items:
        role, part = _part(item, names)
        if messages and messages[-1][0] == role == "assistant":
            messages[-1][1].append(part)
        else:
            messages.append((role, [part]))
    return tuple(Message(role, tuple(parts)) for role, parts in messages)


def _part(item: _Item, names: dict[str | None, str]) -> tuple[Role, Part]:
    match item.type:
        case "function_call":
            return "assistant", decode_args(item.call_id or "", item.name, item.arguments)
        case "function_call_output":
            call_id = CallId(item.call_id or "")
            return "tool", ToolResult(call_id, names.get(call_id, ""), _text(item.output))
        case "reasoning":
            return "assistant", Reasoning("")
        case _:
            return "assistant" if item.role == "assistant" else "user", Text(_text(item.content))


def _text(content: str | list[_Content] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text for part in content)
    return content or ""
