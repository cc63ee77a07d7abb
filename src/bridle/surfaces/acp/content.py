"""Converts between ACP content blocks and message parts."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from bridle.core.errors import UsageError
from bridle.core.messages import IMAGE_TYPES, Media, Message, Part, Text, check_media

Block = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)

MAX_BLOCKS = 1000
MAX_NAME_CHARS = 4096


def message_of(blocks: Sequence[Block], cwd: str) -> Message:
    """Convert a prompt to a message; files are named as the tools name them. Raises UsageError."""
    if len(blocks) > MAX_BLOCKS:
        raise UsageError(f"a prompt may have {MAX_BLOCKS} blocks, and this one has {len(blocks)}")
    parts = [_part(block, cwd) for block in blocks]
    if not any(not isinstance(part, Text) or part.text.strip() for part in parts):
        raise UsageError("the prompt is empty")
    message = Message("user", tuple(parts))
    check_media(message)
    return message


def blocks_of(message: Message) -> list[TextContentBlock | ImageContentBlock]:
    """Return a message's text and images, without calls and thoughts."""
    blocks: list[TextContentBlock | ImageContentBlock] = []
    for part in message.parts:
        match part:
            case Text() if part.text:
                blocks.append(text_block(part.text))
            case Media():
                blocks.append(media_block(part))
            case _:
                pass
    return blocks


def text_block(text: str) -> TextContentBlock:
    """Wrap a text."""
    return TextContentBlock(type="text", text=text)


def media_block(media: Media) -> TextContentBlock | ImageContentBlock:
    """Wrap an image; other media become a label, because editors show nothing else."""
    if media.mime not in IMAGE_TYPES:
        return text_block(f"[{media.mime}{f' {media.name}' if media.name else ''}]")
    return ImageContentBlock(type="image", data=media.data, mime_type=media.mime)


def _part(block: Block, cwd: str) -> Part:
    match block:
        case TextContentBlock():
            return Text(block.text)
        case ImageContentBlock():
            return _image(block.mime_type, block.data, "")
        case ResourceContentBlock():
            return Text(_link(block, cwd))
        case EmbeddedResourceContentBlock():
            return _resource(block.resource, cwd)
        case AudioContentBlock():
            raise UsageError("a prompt cannot contain sound", hint="initialize lists what it can contain")


def _resource(resource: TextResourceContents | BlobResourceContents, cwd: str) -> Part:
    name = display_path(resource.uri, cwd)
    if isinstance(resource, TextResourceContents):
        return Text(f"\n[{name}]\n{_fenced(resource.text)}\n")
    return _image(resource.mime_type or "", resource.blob, name)


def _image(mime: str, data: str, name: str) -> Media:
    if mime not in IMAGE_TYPES:
        raise UsageError(
            f"{mime[:100] or 'data without a type'} cannot be part of a prompt",
            hint=f"text, a link to a file, or {', '.join(IMAGE_TYPES)}",
        )
    return Media(mime, data, name)


def _link(link: ResourceContentBlock, cwd: str) -> str:
    """Return the name of a link's target; a file is read by the tools, under the session's rules."""
    return f"[{display_path(link.uri, cwd)}]"


def display_path(uri: str, cwd: str) -> str:
    """Return a file's path, relative if it is inside the folder, else absolute; other URIs unchanged."""
    try:
        place = urlsplit(uri[:MAX_NAME_CHARS])
    except ValueError:
        return _one_line(uri)
    if place.scheme != "file" or place.netloc not in ("", "localhost"):
        return _one_line(uri)
    path = PurePosixPath(unquote(place.path))
    inside = path.is_relative_to(cwd) and ".." not in path.parts
    name = _one_line(str(path.relative_to(cwd) if inside else path))
    return f"{name}#{_one_line(place.fragment)}" if place.fragment else name


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in text[:MAX_NAME_CHARS])


def _fenced(text: str) -> str:
    """Enclose a text in a fence that it does not contain."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.removesuffix(chr(10))}\n{fence}"
