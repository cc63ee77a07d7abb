"""Scripted replies: picks the reply for a request, fills in its placeholders and splits it into chunks.

A reply depends only on the script and the request, never on earlier requests, so another process can continue
a conversation. The one exception is the counter for a fault's `times`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.context import estimate_tokens
from bridle.core.errors import ProviderError
from bridle.core.messages import Media, Message, Reasoning, StopReason, Text, ToolCall, ToolResult, Usage
from bridle.core.model import ModelRequest
from bridle.providers.reply_builder import reply_position
from bridle.providers.script import Call, Chunks, Fault, HttpFault, Reply, Script

ARGS_FRAGMENT_CHARS = 16  # about the size of a vendor's fragment
_WORD = re.compile(r"\s*\S+|\s+\Z")
_SLOT = re.compile(r"\{(last_user|last_tool_result|tool_results|model)\}")


class TextChunk(Struct, frozen=True):
    """A fragment of the text."""

    text: str


class ReasoningChunk(Struct, frozen=True):
    """A fragment of the reasoning."""

    text: str


class CallChunk(Struct, frozen=True):
    """A fragment of a call's argument text."""

    index: int
    args: str
    first: bool
    last: bool


Chunk = TextChunk | ReasoningChunk | CallChunk


class ScriptedCall(Struct, frozen=True):
    """A tool call with its id and argument text."""

    id: str
    name: str
    args: str


class ScriptedReply(Struct, frozen=True):
    """One reply, ready to send in any vendor's format."""

    turn: int
    model: str
    text: str
    reasoning: str
    calls: tuple[ScriptedCall, ...]
    chunks: tuple[Chunk, ...]
    stop_reason: StopReason
    usage: Usage
    delay_s: float
    chunk_delay_s: float
    fault: Fault | None = None

    def fails_after(self, sent: int) -> bool:
        """Return True if the fault happens after `sent` chunks."""
        if self.fault is None or isinstance(self.fault, HttpFault):
            return False
        return sent >= len(self.chunks) or (self.fault.after is not None and sent >= self.fault.after)


class ScriptPlayer:
    """Returns the scripted reply for each request."""

    def __init__(self, script: Script, name: str) -> None:
        self._script = script
        self._name = name
        self._failed: Counter[bytes] = Counter()

    def play(self, request: ModelRequest) -> ScriptedReply:
        """Return the reply to a request; raises ProviderError if there is none or the request is invalid."""
        _check_call_results(self._name, request.messages)
        number, reply = self._choose(request)
        where = f"{self._name}: reply {number + 1}"
        _check_expected(where, reply, request)
        return _build_reply(reply, request, self._fault(reply, request))

    def _choose(self, request: ModelRequest) -> tuple[int, Reply]:
        numbered = list(enumerate(self._script.replies))
        said = last_user(request)
        pattern = next((r.match for _, r in numbered if r.match and re.search(r.match, said)), "")
        replies = [(number, reply) for number, reply in numbered if reply.match == pattern]
        place = _answers_since_user(request) if pattern else reply_position(request)
        if replies and self._script.repeat:
            place %= len(replies)
        if place >= len(replies):
            which = f"replies that match {pattern!r}" if pattern else "replies"
            raise ProviderError(
                f"{self._name}: the script is over: it has {len(replies)} {which} "
                f"and was asked for number {place + 1}",
                kind="invalid_request",
                hint='add a reply to the script, or "repeat": true',
            )
        return replies[place]

    def _fault(self, reply: Reply, request: ModelRequest) -> Fault | None:
        fault = reply.fault
        if fault is None or fault.times == 0:
            return fault
        asked = hashlib.sha256(msgspec.json.encode(request.messages)).digest()
        self._failed[asked] += 1
        return fault if self._failed[asked] <= fault.times else None


def last_user(request: ModelRequest) -> str:
    """Return the text of the last user message."""
    return next((m.text for m in reversed(request.messages) if m.role == "user"), "")


def _results(messages: Sequence[Message]) -> list[ToolResult]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolResult)]


def _last_result(request: ModelRequest) -> str:
    results = _results(request.messages)
    return results[-1].output if results else ""


def _answers_since_user(request: ModelRequest) -> int:
    roles = [message.role for message in request.messages]
    start = max((place for place, role in enumerate(roles) if role == "user"), default=0)
    return roles[start:].count("assistant")


def _newest_results(request: ModelRequest) -> str:
    answers = [place for place, message in enumerate(request.messages) if message.role == "assistant"]
    newest = request.messages[answers[-1] :] if answers else request.messages
    return "\n".join(result.output for result in _results(newest))


def _check_call_results(name: str, messages: Sequence[Message]) -> None:
    """Raise ProviderError for a call without a result or a result without a call, as every vendor does."""
    open_ids: list[str] = []
    for message in messages:
        for result in _results([message]):
            if result.call_id not in open_ids:
                raise ProviderError(
                    f"{name}: the request holds a result for {result.call_id!r}, which no call before it has",
                    kind="invalid_request",
                )
            open_ids.remove(result.call_id)
        if message.role in ("user", "assistant") and open_ids:
            raise ProviderError(
                f"{name}: the request holds no result for the call {open_ids[0]!r}", kind="invalid_request"
            )
        open_ids += [call.id for call in message.calls]
    if open_ids:
        raise ProviderError(
            f"{name}: the request holds no result for the call {open_ids[0]!r}", kind="invalid_request"
        )


def _check_expected(where: str, reply: Reply, request: ModelRequest) -> None:
    expect = reply.expect
    offered = [tool.name for tool in request.tools]
    missing = [name for name in expect.tools if name not in offered]
    if missing:
        raise ProviderError(
            f"{where}: expected the tools {', '.join(missing)}, offered are: {', '.join(offered) or 'none'}",
            kind="invalid_request",
        )
    for what, wanted, found in (
        ("the last user message", expect.user, last_user(request)),
        ("the last tool result", expect.tool_result, _last_result(request)),
        ("the system prompt", expect.system, request.system),
    ):
        if wanted not in found:
            raise ProviderError(
                f"{where}: expected {what} to contain {wanted!r}, it is {found[:200]!r}",
                kind="invalid_request",
            )


def _build_reply(reply: Reply, request: ModelRequest, fault: Fault | None) -> ScriptedReply:
    turn = reply_position(request)
    slots = {
        "last_user": last_user(request),
        "last_tool_result": _last_result(request),
        "tool_results": _newest_results(request),
        "model": request.model,
    }
    reasoning = _pieces(reply.reasoning, slots)
    text = _pieces(reply.text, slots)
    args = [_args_pieces(call, slots) for call in reply.calls]
    calls = tuple(
        ScriptedCall(f"call_{turn}_{n}" if call.id is None else call.id, call.name, "".join(pieces))
        for n, (call, pieces) in enumerate(zip(reply.calls, args, strict=True))
    )
    chunks: list[Chunk] = [ReasoningChunk(piece) for piece in reasoning]
    chunks += [TextChunk(piece) for piece in text]
    chunks += [chunk for n, pieces in enumerate(args) for chunk in _call_chunks(n, pieces)]
    return ScriptedReply(
        turn=turn,
        model=reply.model or request.model,
        text="".join(text),
        reasoning="".join(reasoning),
        calls=calls,
        chunks=tuple(chunks),
        stop_reason=reply.stop_reason or ("tool_use" if calls else "end_turn"),
        usage=_usage(reply, request, reasoning, text, args),
        delay_s=reply.delay_ms / 1000,
        chunk_delay_s=reply.chunk_delay_ms / 1000,
        fault=fault,
    )


def _pieces(chunks: Chunks, slots: dict[str, str]) -> list[str]:
    if isinstance(chunks, str):
        return _WORD.findall(_fill_slots(chunks, slots))
    return [_fill_slots(chunk, slots) for chunk in chunks]


def _args_pieces(call: Call, slots: dict[str, str]) -> list[str]:
    match call.args:
        case tuple():
            return [_fill_slots(piece, slots) for piece in call.args]
        case str():
            text = _fill_slots(call.args, slots)
        case dict():
            text = msgspec.json.encode(_fill_value(call.args, slots)).decode()
    return [text[n : n + ARGS_FRAGMENT_CHARS] for n in range(0, len(text), ARGS_FRAGMENT_CHARS)]


def _call_chunks(index: int, pieces: list[str]) -> Iterator[CallChunk]:
    """Yield the start of a call, then its arguments in fragments, as vendors do."""
    yield CallChunk(index, "", first=True, last=not pieces)
    for n, piece in enumerate(pieces, 1):
        yield CallChunk(index, piece, first=False, last=n == len(pieces))


def _fill_slots(text: str, slots: dict[str, str]) -> str:
    return _SLOT.sub(lambda slot: slots[slot[1]], text) if "{" in text else text


def _fill_value(value: Any, slots: dict[str, str]) -> Any:
    match value:
        case str():
            return _fill_slots(value, slots)
        case list() | tuple():
            return [_fill_value(item, slots) for item in value]
        case dict():
            return {key: _fill_value(item, slots) for key, item in value.items()}
        case _:
            return value


def _usage(
    reply: Reply, request: ModelRequest, reasoning: list[str], text: list[str], args: list[list[str]]
) -> Usage:
    """Return the usage in the script, or an estimate that is the same for every vendor API."""
    if reply.usage is not None:
        return Usage(**msgspec.structs.asdict(reply.usage))
    thought = sum(map(estimate_tokens, reasoning))
    said = sum(map(estimate_tokens, text)) + sum(estimate_tokens("".join(pieces)) for pieces in args)
    sent = estimate_tokens(request.system) + sum(map(_sent_tokens, request.messages))
    return Usage(input=sent, output=thought + said, reasoning=thought)


def _sent_tokens(message: Message) -> int:
    total = 4
    for part in message.parts:
        match part:
            case Text():
                total += estimate_tokens(part.text)
            case ToolCall():
                total += estimate_tokens(part.name) + 8
            case ToolResult():
                total += estimate_tokens(part.output)
            case Reasoning() | Media():
                pass  # not every vendor API sends these back
    return total
