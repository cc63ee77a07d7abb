"""Provider for Gemini's streamGenerateContent API.

```
data: {"candidates":[{"content":{"parts":[{"text":"…","thought":true}]}}]}             reasoning
data: {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}                          text
data: {"candidates":[{"content":{"parts":[{"functionCall":{…},"thoughtSignature":"…"}]}}]}
data: {"candidates":[{"content":…,"finishReason":"STOP"}],"usageMetadata":{…}}         the last one
```

A call arrives whole, sometimes without an id. A signature covers exactly one part, so a signed part is never
merged with its neighbors. A stream without a finish reason was cut off, even if the connection closed
cleanly.
"""

import re
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from bridle.core.errors import ProviderError
from bridle.core.messages import Media, Part, Reasoning, StopReason, Text, ToolCall, ToolResult, Usage
from bridle.core.model import Effort, ModelReply, ModelRequest
from bridle.core.protocol import Delta
from bridle.providers.errors import VendorError, malformed_error, parse_error, stream_error, truncation_error
from bridle.providers.http import Endpoint, decode_event
from bridle.providers.reply_builder import ReplyBuilder, reply_position
from bridle.providers.supported_schema import GEMINI, reduce_schema
from bridle.providers.wire_format import (
    VendorProvider,
    add_api_version,
    count_at,
    first_accepted,
    merge_turns,
    omitted_file_note,
    request_params,
    string_at,
    vendor_metadata,
    wire_args,
    wire_call_id,
    with_and_without_schema,
)

WIRE = "gemini"
FOREIGN_SIGNATURE = "skip_thought_signature_validator"  # Google's marker for a call that Gemini did not make
EFFORTS: dict[Effort, tuple[int, str]] = {
    "none": (0, "minimal"),
    "minimal": (512, "minimal"),
    "low": (1024, "low"),
    "medium": (8192, "medium"),
    "high": (24_576, "high"),
    "xhigh": (24_576, "high"),
    "max": (24_576, "high"),
}
"""Tokens and levels of thinking."""
_MODEL_PATH = re.compile(r"(models|tunedModels)/(.+)")
_UNCHECKED_MODEL = re.compile(r"(models/)?gemini-[12]\b")

_FILTERS = """SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII
              IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION""".split()
_MALFORMED = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE")
_STOP_REASONS: dict[str, StopReason] = {
    **dict.fromkeys(_FILTERS, "content_filter"),
    "MAX_TOKENS": "max_tokens",
    "CONTINUATION": "max_tokens",
}

# Every other parameter goes into `generationConfig`, which holds most of what users set.
_REQUEST_KEYS = frozenset(
    "cachedContent contents continuationToken generationConfig labels safetySettings serviceTier store "
    "systemInstruction toolConfig tools".split()
)


class GeminiProvider(VendorProvider):
    """Streams replies from the Gemini API."""

    dialect = GEMINI

    @staticmethod
    def url_below(base_url: str) -> str:
        """Return the address that the paths of requests are added to."""
        return add_api_version(base_url, "v1")

    @staticmethod
    def key_headers(key: str) -> dict[str, str]:
        """Return the headers of every request, with the key unless it is empty."""
        return {"x-goog-api-key": key} if key else {}  # never in the URL, which servers log

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive, then the whole reply; raises ProviderError.

        A long reply may take several requests, each continuing where the last one stopped.
        """
        takes_temperature = bool(_UNCHECKED_MODEL.match(request.model))  # newer models must stay at 1
        params = request_params(request, self._params, _effort(request), takes_temperature=takes_temperature)
        bodies = [wire_body(asked, params) for asked in with_and_without_schema(self._prefixed(request))]
        return first_accepted([self._exchange(request, body) for body in bodies])

    async def _exchange(
        self, request: ModelRequest, body: dict[str, Any]
    ) -> AsyncGenerator[Delta | ModelReply, None]:
        url = f"{self._endpoint.url}/{_model_path(request.model)}:streamGenerateContent?alt=sse"
        endpoint = msgspec.structs.replace(self._endpoint, url=url)
        reader = _Reader(endpoint, request)
        is_more = True
        while is_more:
            async with self._client.post(endpoint, msgspec.json.encode(body)) as answer:
                async for events in answer:
                    for event in events:
                        for delta in reader.read(event.data):
                            yield delta
            is_more = reader.goes_on()
            body["continuationToken"] = reader.token
        yield reader.reply()


open_provider = GeminiProvider.at
"""What `factory.py` calls."""


def _model_path(model: str) -> str:
    found = _MODEL_PATH.fullmatch(model)
    kind, name = found.groups() if found else ("models", model)
    return f"{kind}/{quote(name, safe='')}"


# ---------------------------------------------------------------------------- request


def _effort(request: ModelRequest) -> dict[str, Any]:
    """Return the parameters for the effort: up to Gemini 2 a budget, of newer models a level."""
    if request.effort is None:
        return {}
    budget, level = EFFORTS[request.effort]
    amount = {"thinkingBudget": budget} if _UNCHECKED_MODEL.match(request.model) else {"thinkingLevel": level}
    return {"thinkingConfig": {**amount, "includeThoughts": request.effort != "none"}}


def wire_body(request: ModelRequest, params: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request; `params` override every field, also in `generationConfig`."""
    generation: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
    body: dict[str, Any] = {"contents": _contents(request), "generationConfig": generation}
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declarations}]
    if request.output_schema is not None and (schema := reduce_schema(request.output_schema, GEMINI).schema):
        generation |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
    for name, value in params.items():
        key = re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name)
        if key == "generationConfig" and isinstance(value, dict):
            generation |= value
        elif key in _REQUEST_KEYS:
            body[key] = value
        else:
            generation[key] = value
    return body


def _contents(request: ModelRequest) -> list[dict[str, Any]]:
    turns = merge_turns(request.messages, _can_send)
    names = {call.id: call.name for turn in turns for call in turn.calls}
    contents: list[dict[str, Any]] = []
    for turn in turns:
        parts = [_result(result, names) for result in turn.results] + [_part(part) for part in turn.parts]
        # Gemini 3 and later reject a turn whose first call has no signature, even if another model made it.
        if turn.calls and not _UNCHECKED_MODEL.match(request.model):
            first = next(part for part in parts if "functionCall" in part)
            first.setdefault("thoughtSignature", FOREIGN_SIGNATURE)
        contents.append({"role": "model" if turn.role == "assistant" else "user", "parts": parts})
    return contents


def _can_send(part: Part) -> bool:
    match part:
        case Text():
            return bool(part.text or _signature(part))
        case Reasoning():
            return bool(vendor_metadata(part, WIRE))
        case ToolCall():
            return True
        case Media() | ToolResult():
            return False


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"text": part.text} | _signature(part)
        case Reasoning():
            return {"text": part.text, "thought": True} | _signature(part)
        case Media():
            return _media(part)
        case ToolCall():
            call = {"id": wire_call_id(part.id), "name": part.name, "args": wire_args(part)}
            return {"functionCall": call} | _signature(part)
        case ToolResult():
            return _result(part, {})


def _signature(part: Text | Reasoning | ToolCall) -> dict[str, str]:
    signature = string_at(vendor_metadata(part, WIRE), "thoughtSignature")
    return {"thoughtSignature": signature} if signature else {}


_TAKEN = ("image/", "audio/", "video/", "text/", "application/pdf")


def _result(result: ToolResult, names: dict[Any, str]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "id": wire_call_id(result.call_id),
        "name": names.get(result.call_id, result.name),
        "response": {"error" if result.is_error else "output": result.output},
    }
    taken = [media for media in result.media if media.mime.startswith(_TAKEN)]
    if len(taken) < len(result.media):
        others = [omitted_file_note(media) for media in result.media if media not in taken]
        response["response"]["left_out"] = "\n".join(others)
    if taken:
        response["parts"] = [_media(media) for media in taken]
    return {"functionResponse": response}


def _media(media: Media) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media.mime, "data": media.data}}


# ---------------------------------------------------------------------------- reply


class _Part(Struct, gc=False, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: Any = None


class _Content(Struct, gc=False):
    parts: list[_Part] | None = None


class _Candidate(Struct, gc=False, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    index: int | None = None
    continuation_token: str | None = None


class _Chunk(Struct, gc=False, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: Any = None
    prompt_feedback: Any = None
    model_version: str | None = None
    error: Any = None


_chunks = msgspec.json.Decoder(_Chunk)


class _Reader:
    """Decodes the events of one streamed reply."""

    def __init__(self, endpoint: Endpoint, request: ModelRequest) -> None:
        self.token = ""
        """The token that continues an incomplete reply."""
        self._endpoint = endpoint
        self._builder = ReplyBuilder(endpoint.who, reply_position(request))
        self._begun = 0
        self._finish_reason = ""
        self._finish_message = ""
        self._next_token = ""
        self._spent = Usage()
        self._usage: dict[str, Any] = {}
        self._model = ""

    def read(self, data: bytes) -> list[Delta]:
        """Read one event and return its deltas; raises ProviderError."""
        chunk = decode_event(_chunks, self._endpoint.who, data)
        if chunk.error:
            raise self._failure(parse_error({"error": chunk.error}) or VendorError())
        if blocked := string_at(chunk.prompt_feedback, "blockReason"):
            raise self._failure(VendorError(f"the prompt was blocked: {blocked}", ("content_filter",)))
        self._model = self._model or chunk.model_version or ""
        if isinstance(chunk.usage_metadata, dict):
            self._usage |= chunk.usage_metadata
        deltas: list[Delta] = []
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self._read_candidate(candidate, deltas)
        return deltas

    def goes_on(self) -> bool:
        """Add up the usage so far; return True if the reply continues in another request, with `token`."""
        self._spent, self._usage = self._spent + _usage(self._usage), {}
        if self._finish_reason != "CONTINUATION" or self._next_token == self.token:
            return False
        self.token, self._finish_reason = self._next_token, ""
        return True

    def reply(self) -> ModelReply:
        """Return the whole reply; raises ProviderError if the stream ended early."""
        if not self._finish_reason:
            raise truncation_error(self._endpoint.who)
        if self._finish_reason in _MALFORMED:
            said = self._finish_message or "the model wrote a malformed tool call"
            raise malformed_error(self._endpoint.who, f"{self._finish_reason}: {said}")
        stop_reason = _STOP_REASONS.get(self._finish_reason, "end_turn")
        return self._builder.finish(stop_reason, self._spent, self._model)

    def _read_candidate(self, candidate: _Candidate, deltas: list[Delta]) -> None:
        for part in (candidate.content.parts if candidate.content else None) or ():
            if isinstance(part.function_call, dict):
                deltas.append(self._read_call(part.function_call, part.thought_signature))
            elif part.text is not None or part.thought:
                self._read_text(part, deltas)
        if candidate.finish_reason:
            self._finish_reason = candidate.finish_reason
            self._finish_message = candidate.finish_message or ""
        if candidate.continuation_token:
            self._next_token = candidate.continuation_token

    def _read_text(self, part: _Part, deltas: list[Delta]) -> None:
        if part.thought_signature:
            self._builder.close()
        if part.text:
            add = self._builder.reasoning if part.thought else self._builder.text
            deltas.append(add(part.text))
        if part.thought and (part.text or part.thought_signature):
            self._builder.mark("reasoning", WIRE, thought=True)
        if part.thought_signature:
            kind: Any = "reasoning" if part.thought else "text"
            self._builder.mark(kind, WIRE, thoughtSignature=part.thought_signature)
            self._builder.close()

    def _read_call(self, call: dict[str, Any], signature: str | None) -> Delta:
        number, args = self._begun, call.get("args")
        self._begun += 1
        delta = self._builder.call(
            number,
            call_id=string_at(call, "id"),
            name=string_at(call, "name"),
            args="" if args is None else msgspec.json.encode(args).decode(),
        )
        if signature:
            self._builder.add_call_metadata(number, WIRE, thoughtSignature=signature)
        return delta

    def _failure(self, error: VendorError) -> ProviderError:
        return stream_error(self._endpoint.who, error, secrets=self._endpoint.secrets)


def _usage(usage: dict[str, Any]) -> Usage:
    """Count each token once: the prompt includes cached tokens, the candidates exclude thoughts."""
    cache_read = count_at(usage, "cachedContentTokenCount")
    thoughts = count_at(usage, "thoughtsTokenCount")
    prompt = count_at(usage, "promptTokenCount") + count_at(usage, "toolUsePromptTokenCount")
    return Usage(
        input=max(0, prompt - cache_read),
        output=count_at(usage, "candidatesTokenCount") + thoughts,
        cache_read=cache_read,
        reasoning=thoughts,
    )
