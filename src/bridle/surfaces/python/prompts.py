"""What a program may pass as a prompt: text, files, images, or a whole message."""

import base64
import mimetypes
from collections.abc import Iterable, Sequence
from pathlib import Path

from bridle.core.errors import UsageError
from bridle.core.messages import (
    MAX_MEDIA_BYTES,
    Media,
    Message,
    Part,
    Text,
    image_type,
    make_image,
    user_message,
)
from bridle.surfaces.python.callbacks import in_thread

PromptPart = str | Path | Media
"""Text, a file (an image as an image, any other as its text), or bytes wrapped by `media`."""
PromptLike = PromptPart | Sequence[PromptPart] | Message

_SEEN = ("audio/", "video/", "application/pdf")


def media(data: bytes, mime: str, name: str = "") -> Media:
    """Wrap an image or another file as a part of a prompt or of a tool's result.

    ```python
    await session.run(["what is on this picture", bridle.media(png, "image/png")])
    ```
    """
    return Media(mime, base64.b64encode(data).decode(), name)


async def to_message(prompt: PromptLike) -> Message:
    """Convert a prompt to a message, reading its files; raises UsageError."""
    if isinstance(prompt, Message):
        return prompt
    if isinstance(prompt, str):
        if not prompt.strip():
            raise UsageError("the prompt is empty")
        return user_message(prompt)
    parts = (prompt,) if isinstance(prompt, Path | Media) or not isinstance(prompt, Iterable) else prompt
    return await in_thread(lambda: Message("user", tuple(map(_part, parts))))


async def to_messages(prompts: Sequence[PromptLike]) -> tuple[Message, ...]:
    """Convert several prompts to messages; raises UsageError."""
    if isinstance(prompts, str | Message | Path | Media):
        raise UsageError("messages are a list", hint='messages=["the first", "the second"]')
    return tuple([await to_message(prompt) for prompt in prompts])


def _part(part: PromptPart) -> Part:
    match part:
        case str():
            return Text(part)
        case Media():
            return part
        case Path():
            return _file(part)
    raise UsageError(f"a prompt cannot hold a {type(part).__name__}")


def _file(path: Path) -> Part:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_MEDIA_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > MAX_MEDIA_BYTES:
        raise UsageError(f"{path} is larger than {MAX_MEDIA_BYTES // 1024**2} MiB")
    if image_type(data):
        return make_image(data, path.name)
    mime = mimetypes.guess_type(path.name)[0] or ""
    if mime.startswith(_SEEN):
        return media(data, mime, path.name)
    try:
        return Text(f'\n<file path="{path}">\n{data.decode()}\n</file>\n')
    except UnicodeDecodeError:
        raise UsageError(f"{path} is neither text nor a picture", hint="bridle.media(data, mime)") from None
