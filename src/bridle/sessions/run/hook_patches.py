"""Applies hook outcomes to model requests and replies."""

from msgspec.structs import replace

from bridle.core.hook import AssistantTextPatch, HookOutcome, ModelRequestPatch, Patch
from bridle.core.messages import Message, Part, Text, ToolCall
from bridle.core.model import ModelRequest
from bridle.core.protocol import Delta, ReasoningDelta, TextDelta, ToolCallDelta
from bridle.sessions.run.context import refusal

SET_ASIDE_FOR = frozenset(
    "model n candidateCount max_tokens max_completion_tokens max_output_tokens maxOutputTokens".split()
)
"""Vendor parameters that bound a request's cost: it is already reserved, so hooks may not change them."""

UNJUDGED = "the run was stopped before hooks had checked it"


def with_text(message: Message, text: str) -> Message:
    """Replace a message's text; the leading parts that the new text shares stay in place."""
    parts: list[Part] = []
    left: str | None = text
    for part in message.parts:
        if not isinstance(part, Text):
            parts.append(part)
        elif left is not None and part.text and left.startswith(part.text):
            parts.append(part)
            left = left[len(part.text) :] or None
        elif left is not None:
            parts.append(Text(left))
            left = None
    if left is not None:
        parts.append(Text(left))
    return Message(message.role, tuple(parts))


def apply_request_patches(request: ModelRequest, patches: tuple[Patch, ...]) -> ModelRequest:
    """Return a request with the hooks' changes, never beyond the reserved cost."""
    for patch in patches:
        if isinstance(patch, ModelRequestPatch):
            wanted = {k: v for k, v in (patch.provider_params or {}).items() if k not in SET_ASIDE_FOR}
            params = {**request.params, **wanted}
            if patch.temperature is not None:
                params["temperature"] = patch.temperature
            most = request.max_output_tokens  # the reserved maximum
            if patch.max_tokens is not None:
                most = max(1, min(most, patch.max_tokens))
            request = replace(request, params=params, max_output_tokens=most)
    return request


def apply_reply_outcome(message: Message, outcome: HookOutcome) -> Message:
    """Return a reply with the hooks' changes applied."""
    if outcome.deny is not None:
        return withheld(refusal(outcome.deny))
    for patch in outcome.patches:
        if isinstance(patch, AssistantTextPatch):
            message = with_text(message, patch.text)
    return message


def withheld(why: str) -> Message:
    """Return the message that replaces a reply withheld by hooks."""
    return Message("assistant", (Text(f"[withheld: {why}]"),))


def without_calls(message: Message) -> Message:
    """Return a reply without its tool calls: its request offered no tools."""
    parts = tuple(part for part in message.parts if not isinstance(part, ToolCall))
    return Message(message.role, parts or (Text(""),))


def length_of(delta: Delta) -> int:
    """Return how many characters of a reply a delta holds, of any kind."""
    match delta:
        case TextDelta() | ReasoningDelta():
            return len(delta.text)
        case ToolCallDelta():
            return len(delta.args)
        case _:
            return 0
