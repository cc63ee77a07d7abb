"""A request to the model that a tool's server makes, and its answer."""

from msgspec import Struct

from bridle.core.messages import Message


class Sample(Struct, frozen=True):
    """What a server wants to know from the model."""

    by: str
    """The server."""
    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 1024
    temperature: float | None = None
    stop: tuple[str, ...] = ()


class Sampled(Struct, frozen=True):
    """What the model said."""

    text: str
    model: str
    stop_reason: str
