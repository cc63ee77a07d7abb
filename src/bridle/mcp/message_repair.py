"""A layer between a server and the SDK: repairs answers that the SDK would reject as a whole.

```
SDK ──request──▶ Mouth ──▶ transport        records which request waits for an answer
SDK ◀──answer── Ears ◀── transport          repairs a bad tool in a list, an odd part of a result
```

The SDK validates an answer as a whole: one tool without a schema, and all tools of the page are lost. Here
the bad one is removed, with a note. Output schemas are kept separately, because the SDK would drop a result
that does not fit its schema; `results.py` reports that instead and keeps the result.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self, cast

import anyio
import msgspec
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from bridle.core.schema import REFERENCES, References, is_costly, is_deeper, subschemas
from bridle.mcp.server_log import clean_line

# ---------------------------------------------------------------------------- schemas
# Checks the schemas of untrusted servers before a model sees them.


MAX_SCHEMA_BYTES = 64 * 1024
MAX_SCHEMA_DEPTH = 64


def find_schema_problem(schema: Any) -> str:
    """Return why a schema cannot be the parameters of a tool; empty if it can."""
    if not isinstance(schema, dict):
        return "its schema is no object"
    if schema.get("type", "object") != "object":
        return f"its schema is of type {str(schema['type'])[:40]!r}, not of type object"
    if is_deeper(schema, MAX_SCHEMA_DEPTH):
        return f"its schema is nested deeper than {MAX_SCHEMA_DEPTH} levels"
    try:
        size = len(msgspec.json.encode(schema))
    except (ValueError, OverflowError) as error:
        return f"its schema is not JSON: {error}"
    if size > MAX_SCHEMA_BYTES:
        return f"its schema has {size:,} bytes, {MAX_SCHEMA_BYTES:,} are allowed"
    references = References(schema)
    for where, part in subschemas(schema):
        for key in REFERENCES:
            ref = part.get(key)
            if ref is not None and references.find(ref) is None:
                return f"in its schema {where}/{key} points nowhere: {str(ref)[:100]!r}"
    if is_costly(schema, {}):
        return "its schema is too complex to check"
    return ""


# ---------------------------------------------------------------------------- message repair


OUTPUT_SCHEMA = "bridle/outputSchema"
MAX_SERVER_NAME_CHARS = 256
_MANY_ENTRIES = 50
_LASTING = "subscriptions/listen"  # has no answer before it ends


class Unreadable(Exception):
    """A message that could not be parsed: the answer to one request, or to any of those that wait."""

    def __init__(self, why: str, request: int | str | None = None) -> None:
        super().__init__(why)
        self.request = request


class RepairingTransport(AbstractAsyncContextManager[Any]):
    """A transport that repairs the messages of another one."""

    def __init__(self, transport: AbstractAsyncContextManager[Any], note: Callable[[str], None]) -> None:
        self._transport = transport
        self._note = note
        self._waiting: dict[int | str, str] = {}

    async def __aenter__(self) -> tuple["RepairedReader", "RecordingWriter"]:
        """Open the transport, and wrap its streams."""
        reads, writes = await self._transport.__aenter__()
        return RepairedReader(reads, self), RecordingWriter(writes, self)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close the transport."""
        return await self._transport.__aexit__(kind, error, trace)

    def sent(self, message: Any) -> None:
        """Record which request waits for an answer."""
        if isinstance(message, JSONRPCRequest):
            self._waiting[message.id] = message.method

    def repair(self, message: Any) -> None:
        """Repair an answer in place."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            method = self._waiting.pop(message.id, "")
            if isinstance(message, JSONRPCResponse) and (correct := _CORRECTIONS.get(method)):
                if not isinstance(message.result.get("_meta", {}), dict):
                    del message.result["_meta"]
                for note in correct(message.result):
                    self._note(note)

    def failed(self, broken: Unreadable) -> list[SessionMessage]:
        """Return error answers for the requests whose own answers could not be parsed."""
        wanted = [broken.request] if broken.request is not None else list(self._waiting)
        hit = [one for one in wanted if self._waiting.get(one, _LASTING) != _LASTING]
        for one in hit:
            del self._waiting[one]
        error = ErrorData(code=INTERNAL_ERROR, message=str(broken))
        return [SessionMessage(JSONRPCError(jsonrpc="2.0", id=one, error=error)) for one in hit]


class RepairedReader:
    """The stream that the SDK reads from."""

    def __init__(self, reads: Any, transport: RepairingTransport) -> None:
        self._reads = reads
        self._transport = transport
        self._made: deque[SessionMessage] = deque()

    @property
    def last_context(self) -> Any:
        """The transport's information about the sender of the last message."""
        return getattr(self._reads, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message; raises EndOfStream."""
        while True:
            if self._made:
                return self._made.popleft()
            item = await self._reads.receive()
            if isinstance(item, Unreadable):
                self._made.extend(self._transport.failed(item))
                continue
            if isinstance(item, SessionMessage):
                if _is_long(item.message):
                    await asyncio.to_thread(self._transport.repair, item.message)
                else:
                    self._transport.repair(item.message)
            return cast(SessionMessage | Exception, item)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Stop reading."""
        await self._reads.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class RecordingWriter:
    """The stream that the SDK writes to."""

    def __init__(self, writes: Any, transport: RepairingTransport) -> None:
        self._writes = writes
        self._transport = transport

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        self._transport.sent(item.message)
        await self._writes.send(item)

    async def aclose(self) -> None:
        """Stop writing."""
        await self._writes.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _is_long(message: Any) -> bool:
    """True if an answer takes so long to check that it belongs in a thread."""
    found = message.result.values() if isinstance(message, JSONRPCResponse) else ()
    return any(isinstance(one, list) and len(one) > _MANY_ENTRIES for one in found)


# ---------------------------------------------------------------------------- repairs, each in place

_Notes = list[str]


def _correct_tools(result: dict[str, Any]) -> _Notes:
    notes: _Notes = []
    kept = []
    for tool in _entries(result, "tools"):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not 0 < len(name) <= MAX_SERVER_NAME_CHARS:
            notes.append(f"a tool without a proper name is left out: {_shown(tool)}")
        elif why := find_schema_problem(tool.get("inputSchema")):
            notes.append(f'its tool "{clean_line(name, 80)}" is left out: {why}')
        else:
            schema = {"type": "object", **tool["inputSchema"]}
            plain = {"name": name, "inputSchema": schema, **_texts(tool, "title", "description")}
            if isinstance(how := tool.get("execution"), dict) and how.get("taskSupport") == "required":
                plain["execution"] = {"taskSupport": "required"}
            announced = tool.get("outputSchema")
            if isinstance(announced, dict):
                if why := find_schema_problem(announced):
                    notes.append(f'results of its tool "{clean_line(name, 80)}" are not checked: {why}')
                else:
                    plain["_meta"] = {OUTPUT_SCHEMA: announced}
            kept.append(plain)
    result["tools"] = kept
    return notes


def _correct_prompts(result: dict[str, Any]) -> _Notes:
    kept = []
    notes: _Notes = []
    for prompt in _entries(result, "prompts"):
        if not isinstance(prompt, dict) or not _is_name(prompt.get("name")):
            notes.append(f"a prompt without a proper name is left out: {_shown(prompt)}")
            continue
        given = prompt.get("arguments")
        arguments = [
            {"name": one["name"], "required": one.get("required") is True}
            for one in (given if isinstance(given, list) else ())
            if isinstance(one, dict) and _is_name(one.get("name"))
        ]
        kept.append(
            {"name": prompt["name"], "arguments": arguments, **_texts(prompt, "title", "description")}
        )
    result["prompts"] = kept
    return notes


def _correct_resources(result: dict[str, Any]) -> _Notes:
    return _correct_places(result, "resources", "uri")


def _correct_templates(result: dict[str, Any]) -> _Notes:
    return _correct_places(result, "resourceTemplates", "uriTemplate")


def _correct_places(result: dict[str, Any], key: str, address: str) -> _Notes:
    kept = []
    notes: _Notes = []
    for place in _entries(result, key):
        uri = place.get(address) if isinstance(place, dict) else None
        if not isinstance(uri, str) or not uri:
            notes.append(f"a resource without an address is left out: {_shown(place)}")
            continue
        name = place["name"] if isinstance(place.get("name"), str) else uri
        kept.append({address: uri, "name": name, **_texts(place, "title", "description", "mimeType")})
    result[key] = kept
    return notes


def _correct_call(result: dict[str, Any]) -> _Notes:
    if "inputRequests" in result or result.get("resultType") == "input_required":
        return []
    content = [_corrected(part) for part in _entries(result, "content")]
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        content.append(_text(_json(structured)))
        del result["structuredContent"]
    if "isError" in result:
        result["isError"] = bool(result["isError"])
    result["content"] = content
    return []


def _correct_prompt(result: dict[str, Any]) -> _Notes:
    if "inputRequests" in result or result.get("resultType") == "input_required":
        return []
    if not isinstance(result.get("description", ""), str):
        del result["description"]
    result["messages"] = [
        {
            "role": "assistant" if message.get("role") == "assistant" else "user",
            "content": _corrected(message.get("content")),
        }
        for message in _entries(result, "messages")
        if isinstance(message, dict)
    ]
    return []


def _correct_reading(result: dict[str, Any]) -> _Notes:
    if "inputRequests" in result or result.get("resultType") == "input_required":
        return []
    result["contents"] = [
        {"uri": "", **_texts(one, "uri", "mimeType", "text", "blob")}
        if _is_contents(one)
        else {"uri": "", "text": _json(one)}
        for one in _entries(result, "contents")
    ]
    return []


_CORRECTIONS: dict[str, Callable[[dict[str, Any]], _Notes]] = {
    "tools/list": _correct_tools,
    "prompts/list": _correct_prompts,
    "resources/list": _correct_resources,
    "resources/templates/list": _correct_templates,
    "tools/call": _correct_call,
    "tasks/result": _correct_call,
    "prompts/get": _correct_prompt,
    "resources/read": _correct_reading,
}

_CONTENT = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
}


def _corrected(part: Any) -> dict[str, Any]:
    """Return a part of a result in a form that the SDK accepts, complete; one of unknown type as text."""
    if not isinstance(part, dict):
        return _text(_json(part))
    kind = part.get("type")
    if kind == "resource" and _is_contents(part.get("resource")):
        return {
            "type": kind,
            "resource": {"uri": "", **_texts(part["resource"], "uri", "mimeType", "text", "blob")},
        }
    wanted = _CONTENT.get(kind) if isinstance(kind, str) else None
    if wanted is not None and all(isinstance(part.get(key), str) for key in wanted):
        more = ("title", "description", "mimeType") if kind == "resource_link" else ()
        return {"type": kind, **_texts(part, *wanted, *more)}
    return _text(_json(part))


def _is_contents(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in ("text", "blob"))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_SERVER_NAME_CHARS


def _entries(result: dict[str, Any], key: str) -> list[Any]:
    """Return a list from a result, and remove an invalid cursor."""
    if not isinstance(result.get("nextCursor", ""), str):
        del result["nextCursor"]
    found = result.get(key)
    return found if isinstance(found, list) else []


def _texts(value: dict[str, Any], *keys: str) -> dict[str, str]:
    return {key: value[key] for key in keys if isinstance(value.get(key), str)}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    return clean_line(repr(value), 80)
