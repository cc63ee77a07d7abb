"""MCP sampling: a request to the model that an MCP server makes, and the answer."""

from msgspec import Struct

from bridle.core.messages import Message


class SampleRequest(Struct, frozen=True):
    """A server's request to the model."""

    by: str
    """The name of the server."""
    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 1024
    temperature: float | None = None
    stop: tuple[str, ...] = ()


class SampleReply(Struct, frozen=True):
    """The model's answer."""

    text: str
    model: str
    stop_reason: str
