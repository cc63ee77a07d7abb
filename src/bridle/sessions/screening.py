"""What hooks leave of a request and of a reply."""

from msgspec.structs import replace

from bridle.core.hook import AssistantTextPatch, HookOutcome, ModelRequestPatch, Patch
from bridle.core.messages import Message, Part, Text, ToolCall
from bridle.core.model import ModelRequest
from bridle.core.protocol import Delta, ReasoningDelta, TextDelta, ToolCallDelta
from bridle.sessions.kit import refusal

SET_ASIDE_FOR = frozenset(
    "model n candidateCount max_tokens max_completion_tokens max_output_tokens maxOutputTokens".split()
)
"""What a request costs at most, in the words of vendors: was worked out before, and may not become more."""

UNJUDGED = "the run was stopped before hooks had let it through"


def with_text(message: Message, text: str) -> Message:
    """Put other words into a message: what they share with its first texts stays where it was."""
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


def patched(request: ModelRequest, patches: tuple[Patch, ...]) -> ModelRequest:
    """Return a request as hooks have changed it, never for more than was set aside."""
    for patch in patches:
        if isinstance(patch, ModelRequestPatch):
            wanted = {k: v for k, v in (patch.provider_params or {}).items() if k not in SET_ASIDE_FOR}
            params = {**request.params, **wanted}
            if patch.temperature is not None:
                params["temperature"] = patch.temperature
            most = request.max_output_tokens  # more than this is not paid for
            if patch.max_tokens is not None:
                most = max(1, min(most, patch.max_tokens))
            request = replace(request, params=params, max_output_tokens=most)
    return request


def screened_message(message: Message, outcome: HookOutcome) -> Message:
    """Return what hooks have left of a reply."""
    if outcome.deny is not None:
        return withheld(refusal(outcome.deny))
    for patch in outcome.patches:
        if isinstance(patch, AssistantTextPatch):
            message = with_text(message, patch.text)
    return message


def withheld(why: str) -> Message:
    """Return what stands in the place of a reply that nobody may read."""
    return Message("assistant", (Text(f"[withheld: {why}]"),))


def without_calls(message: Message) -> Message:
    """Return a reply to a request that offered no tools."""
    parts = tuple(part for part in message.parts if not isinstance(part, ToolCall))
    return Message(message.role, parts or (Text(""),))


def length_of(delta: Delta) -> int:
    """Return how many characters of a reply a fragment of it has, whatever they are for."""
    match delta:
        case TextDelta() | ReasoningDelta():
            return len(delta.text)
        case ToolCallDelta():
            return len(delta.args)
        case _:
            return 0
