"""What a server offers, as plain values that do not depend on the SDK."""

from typing import Any

from msgspec import Struct


class OfferedTool(Struct, frozen=True):
    """A tool, by the server's own name."""

    name: str
    description: str
    schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None


class OfferedArgument(Struct, frozen=True):
    """An argument of a prompt."""

    name: str
    is_required: bool = False


class OfferedPrompt(Struct, frozen=True):
    """A prompt, by the server's own name."""

    name: str
    description: str = ""
    arguments: tuple[OfferedArgument, ...] = ()


class OfferedResource(Struct, frozen=True):
    """A resource: an address, or for a template a pattern of addresses."""

    uri: str
    name: str
    description: str = ""
    mime: str = ""
    is_template: bool = False


class Offers(Struct, frozen=True):
    """Everything that a server offered at the last request."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: tuple[OfferedResource, ...] = ()
    """Templates come last."""
    instructions: str = ""
    about: str = ""
    """Its name, version and protocol revision."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
