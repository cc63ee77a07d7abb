"""A request to a model that a tool call makes, and the answer: for an MCP server, or about a web page."""

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.messages import Message


class SampleTooLongError(ToolError):
    """The request does not fit into the window of the model."""


class SampleRequest(Struct, frozen=True):
    """A request to the model; it is not part of the conversation."""

    by: str
    """The name of the server or tool."""
    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 1024
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    small: bool = False
    """Ask the agent's small model, if it has one."""


class SampleReply(Struct, frozen=True):
    """The model's answer."""

    text: str
    model: str
    stop_reason: str
