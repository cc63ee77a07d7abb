"""What a server offers, as plain values: the rest of the room need not know the SDK."""

from typing import Any

from msgspec import Struct


class OfferedTool(Struct, frozen=True):
    """A tool, by the server's own name."""

    name: str
    description: str
    schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None


class OfferedArgument(Struct, frozen=True):
    """What a prompt takes."""

    name: str
    is_required: bool = False


class OfferedPrompt(Struct, frozen=True):
    """A prompt, by the server's own name."""

    name: str
    description: str = ""
    arguments: tuple[OfferedArgument, ...] = ()


class OfferedResource(Struct, frozen=True):
    """Something to read: an address, or for a template the pattern of many."""

    uri: str
    name: str
    description: str = ""
    mime: str = ""
    is_template: bool = False


class Listing(Struct, frozen=True):
    """All that a server offered when it was last asked."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: tuple[OfferedResource, ...] = ()
    """Templates come last."""
    instructions: str = ""
    about: str = ""
    """Its name, version and the protocol that it speaks."""
    notes: tuple[str, ...] = ()
    """What had to be left out, and why."""
