"""Messages and their ordered parts: the content of a conversation.

Parts keep the order in which the model produced them. Each keeps the vendor's metadata (thought signatures,
encrypted reasoning), which is sent back unchanged.
"""

import binascii
import re
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Collection, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import UsageError
from bridle.core.ids import CallId

Role = Literal["system", "user", "assistant", "tool"]
MAX_IMAGE_BYTES = 5 * 1024 * 1024  # vendors take no larger ones
MAX_MEDIA_BYTES = 32 * 1024 * 1024  # of all files of one message
_SIGNATURES = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
)
IMAGE_TYPES = tuple(mime for mime, _ in _SIGNATURES)
"""The types of images that models accept."""
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
    """Replace images, and all media in tool results, with a text note, for a model that only reads text."""
    return tuple(
        [
            Message(message.role, tuple(map(_with_media_named, message.parts)))
            if message.role != "assistant" and any(map(_has_unreadable, message.parts))
            else message
            for message in messages
        ]
    )


def _has_unreadable(part: Part) -> bool:
    return bool(part.media) if isinstance(part, ToolResult) else isinstance(part, Media) and _is_image(part)


def _with_media_named(part: Part) -> Part:
    match part:
        case Media() if _is_image(part):
            return Text(_unseen(part))
        case ToolResult() if part.media:
            lines = [_unseen(media) for media in part.media]
            return replace(part, output="\n".join([*filter(None, [part.output]), *lines]), media=())
        case _:
            return part


def _unseen(media: Media) -> str:
    return f"[{media.mime} that this model cannot see]"


# ---------------------------------------------------------------------------- headers
# Texts of agents are shown to other agents below a line that says who wrote them.


_HEADERS = ("[comms", "[messagefrom", "[resultof", "[pinnedby", "[contextcompacted")
_LINE_END = re.compile(
    "([\n\r\v\f\x1c-\x1e\x85\u2028\u2029])"
)  # every character that some reader takes for one


def quote_headers(text: str) -> str:
    """Put `> ` before each line of an agent's text that looks like a header, as if another had written it."""
    pieces = _LINE_END.split(text)
    return "".join(f"> {piece}" if _visible(piece).startswith(_HEADERS) else piece for piece in pieces)


def _visible(line: str) -> str:
    """Return a line in lower case without blanks, invisible characters and other spellings of letters."""
    if "[" not in line and "\uff3b" not in line:
        return ""
    plain = unicodedata.normalize("NFKC", line).casefold()
    return "".join(char for char in plain if unicodedata.category(char)[0] in "LNPS")


# ---------------------------------------------------------------------------- images


def image_type(start: bytes) -> str:
    """Return the type of an image by its first bytes; empty if it is none that models accept."""
    return next((mime for mime, signature in _SIGNATURES if signature.match(start)), "")


def make_image(data: bytes, name: str) -> Media:
    """Return an image as a part of a message; raises UsageError if it is none, or too large."""
    mime = image_type(data)
    if not mime:
        raise UsageError(f"{name} is not an image", hint=f"use {', '.join(IMAGE_TYPES)}")
    if len(data) > MAX_IMAGE_BYTES:
        raise UsageError(f"{name} is larger than {MAX_IMAGE_BYTES // 1024**2} MiB", hint="make it smaller")
    return Media(mime, b64encode(data).decode(), name)


def has_images(message: Message) -> bool:
    """Return whether an image is a part of the message itself."""
    return any(isinstance(part, Media) and _is_image(part) for part in message.parts)


def check_media(message: Message) -> None:
    """Refuse files that cannot be sent, and images that are none; raises UsageError."""
    media = [part for part in message.parts if isinstance(part, Media)]
    if sum(len(part.data) for part in media) * 3 // 4 > MAX_MEDIA_BYTES:
        raise UsageError(f"the files of the prompt are larger than {MAX_MEDIA_BYTES // 1024**2} MiB")
    for part in media:
        name = part.name[:80] or "the attached file"
        try:
            data = b64decode(part.data, validate=True)
        except (binascii.Error, ValueError):
            raise UsageError(f"{name}: the data is not base64") from None
        if _is_image(part) and make_image(data, name).mime != part.mime:
            raise UsageError(f"{name} is {image_type(data)}, not {part.mime[:80]}")


def _is_image(media: Media) -> bool:
    return media.mime.startswith("image/")
