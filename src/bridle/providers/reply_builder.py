"""Assembles the fragments of a streamed reply, from any vendor, into deltas and one whole reply."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.malformed import MALFORMED
from bridle.core.messages import Message, Part, Reasoning, StopReason, Text, ToolCall, Usage
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import ReasoningDelta, TextDelta, ToolCallDelta

_args_decoder = msgspec.json.Decoder(dict[str, Any])


class _PartDraft(Struct):
    """A part that is still incomplete."""

    kind: Literal["text", "reasoning", "call"]
    written: bytearray
    """UTF-8 bytes; a list of small strings would need twenty times the memory."""
    id: CallId = CallId("")
    name: str = ""
    meta: dict[str, Any] = {}


class ReplyBuilder:
    """Builds one reply; parts keep the order in which they started.

    A method that takes a fragment returns its delta. `turn` is part of the id of a call to which the vendor
    gave none, so a repeated request yields the same ids.
    """

    def __init__(self, who: str, turn: int) -> None:
        self._who = who
        self._turn = turn
        self._drafts: list[_PartDraft] = []
        self._calls: dict[int, _PartDraft] = {}
        self._open: _PartDraft | None = None

    def text(self, fragment: str) -> TextDelta:
        """Add a fragment of text."""
        self._draft("text").written += fragment.encode("utf-8", "surrogatepass")
        return TextDelta(fragment)

    def reasoning(self, fragment: str) -> ReasoningDelta:
        """Add a fragment of reasoning."""
        self._draft("reasoning").written += fragment.encode("utf-8", "surrogatepass")
        return ReasoningDelta(fragment)

    def call(self, index: int, *, call_id: str = "", name: str = "", args: str = "") -> ToolCallDelta:
        """Start call number `index`, or add to it."""
        draft = self._calls.get(index)
        if draft is None:
            draft = self._calls[index] = _PartDraft(
                "call", bytearray(), CallId(call_id or f"call_{self._turn}_{len(self._calls)}")
            )
            self._drafts.append(draft)
            self._open = None
        draft.name = draft.name or name
        draft.written += args.encode("utf-8", "surrogatepass")
        return ToolCallDelta(draft.id, draft.name, args)

    def close(self) -> None:
        """Close the open part: the next fragment starts a new part, even of the same kind."""
        self._open = None

    def mark(self, kind: Literal["text", "reasoning"], wire: str, **sealed: Any) -> None:
        """Store a vendor's metadata with the open part of this kind; starts an empty part if none is open."""
        if sealed:
            self._draft(kind).meta.setdefault(wire, {}).update(sealed)

    def add_call_metadata(self, index: int, wire: str, **sealed: Any) -> None:
        """Store a vendor's metadata with call number `index`, which must have started."""
        if sealed:
            self._calls[index].meta.setdefault(wire, {}).update(sealed)

    def call_id(self, index: int) -> str | None:
        """Return the id of call number `index`, or None before it starts."""
        draft = self._calls.get(index)
        return draft.id if draft else None

    def finish(self, stop_reason: StopReason, usage: Usage, model: str) -> ModelReply:
        """Return the whole reply; raises ProviderError if it is empty, unless the token limit cut it off."""
        parts = tuple(_part(draft) for draft in self._drafts)
        message = Message("assistant", parts)
        if self._calls and stop_reason in ("end_turn", "stop_sequence"):
            stop_reason = "tool_use"  # OpenAI's Responses API reports "stop" for calls too
        elif not self._calls and stop_reason == "tool_use":
            stop_reason = "end_turn"
        if not self._calls and not message.text.strip():
            self._raise_if_empty(stop_reason)
        return ModelReply(message, stop_reason, usage, model)

    def _draft(self, kind: Literal["text", "reasoning"]) -> _PartDraft:
        if self._open is None or self._open.kind != kind:
            self._open = _PartDraft(kind, bytearray())
            self._drafts.append(self._open)
        return self._open

    def _raise_if_empty(self, stop_reason: StopReason) -> None:
        if stop_reason == "content_filter":
            raise ProviderError(
                f"{self._who}: the answer was withheld by a content filter", kind="content_filtered"
            )
        if stop_reason != "max_tokens":
            raise ProviderError(f"{self._who}: the model sent an empty answer", kind="empty_reply")


def reply_position(request: ModelRequest) -> int:
    """Return the number of assistant messages in a request, which is the position of the next reply."""
    return sum(message.role == "assistant" for message in request.messages)


def _part(draft: _PartDraft) -> Part:
    text = draft.written.decode("utf-8", "surrogatepass")
    match draft.kind:
        case "text":
            return Text(text, draft.meta)
        case "reasoning":
            return Reasoning(text, draft.meta)
        case "call":
            return _call(draft, text)


def _call(draft: _PartDraft, text: str) -> ToolCall:
    if not text.strip():
        return ToolCall(draft.id, draft.name, meta=draft.meta)
    try:
        return ToolCall(draft.id, draft.name, _args_decoder.decode(text), meta=draft.meta)
    except MALFORMED:
        return ToolCall(draft.id, draft.name, invalid=text, meta=draft.meta)
