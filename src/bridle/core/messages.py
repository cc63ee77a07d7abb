"""Messages and their ordered parts: the content of a conversation.

Parts keep the order in which the model produced them. Each keeps the vendor's metadata (thought signatures,
encrypted reasoning), which is sent back unchanged.
"""

from collections.abc import Collection, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.ids import CallId

Role = Literal["system", "user", "assistant", "tool"]
StopReason = Literal["end_turn", "tool_use", "max_tokens", "stop_sequence", "content_filter", "cancelled"]


class Text(Struct, frozen=True, tag="text", omit_defaults=True):
    """Plain text."""

    text: str
    meta: dict[str, Any] = {}


class Reasoning(Struct, frozen=True, tag="reasoning", omit_defaults=True):
    """The model's visible reasoning, or an opaque block that must be sent back."""

    text: str
    meta: dict[str, Any] = {}


class Media(Struct, frozen=True, tag="media", omit_defaults=True):
    """An image, sound or file, as base64 text."""

    mime: str
    data: str
    name: str = ""


class ToolCall(Struct, frozen=True, tag="tool_call", omit_defaults=True):
    """A tool call that the model requests."""

    id: CallId
    name: str
    args: dict[str, Any] = {}
    invalid: str = ""
    """The original text if it was not a JSON object or was code that was cut off; `args` is then empty."""
    meta: dict[str, Any] = {}


class ToolResult(Struct, frozen=True, tag="tool_result", omit_defaults=True):
    """The result of a call; a failure is a result too."""

    call_id: CallId
    name: str
    output: str
    is_error: bool = False
    media: tuple[Media, ...] = ()


Part = Text | Reasoning | Media | ToolCall | ToolResult


class Message(Struct, frozen=True):
    """One message of the system, user, assistant or a tool, in parts."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """All text parts joined, without reasoning and calls."""
        return "".join([part.text for part in self.parts if isinstance(part, Text)])

    @property
    def reasoning(self) -> str:
        """All reasoning parts joined."""
        return "".join([part.text for part in self.parts if isinstance(part, Reasoning)])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in the order the model made them."""
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens of one or more model calls, each counted once whatever the vendor reports.

    `input` excludes what was read from or written to a cache; `reasoning` is part of `output`.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def context(self) -> int:
        """All tokens, input and output: the size that the next request starts from."""
        return self.input + self.cache_read + self.cache_write + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
        )


def user_message(text: str) -> Message:
    """Wrap plain text as a user message."""
    return Message("user", (Text(text),))


def with_unique_call_ids(message: Message, used: Collection[CallId], turn: int) -> Message:
    """Give calls whose id is missing or taken a new one, because results refer to calls by id."""
    if not message.calls:
        return message
    taken: set[CallId] = set()  # in this message; `used` may be long
    parts: list[Part] = []
    for index, part in enumerate(message.parts):
        if isinstance(part, ToolCall):
            if not part.id or part.id in used or part.id in taken:
                fresh = f"{part.id or 'call'}_{turn}_{index}"
                while fresh in used or fresh in taken:
                    fresh += "_"
                part = replace(part, id=CallId(fresh))
            taken.add(part.id)
        parts.append(part)
    return Message(message.role, tuple(parts))


def final_text(messages: Sequence[Message]) -> str:
    """Return the text of the last assistant message that has any."""
    return next((m.text for m in reversed(messages) if m.role == "assistant" and m.text), "")


def replace_media_with_text(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Replace media in tool results with a text note, for a model that only reads text."""
    return tuple(
        [
            Message(message.role, tuple(map(_with_media_named, message.parts)))
            if message.role == "tool" and _has_media(message)
            else message
            for message in messages
        ]
    )


def _has_media(message: Message) -> bool:
    return any(part.media for part in message.parts if isinstance(part, ToolResult))


def _with_media_named(part: Part) -> Part:
    if not isinstance(part, ToolResult) or not part.media:
        return part
    lines = [f"[{media.mime} that this model cannot see]" for media in part.media]
    return replace(part, output="\n".join([*filter(None, [part.output]), *lines]), media=())
