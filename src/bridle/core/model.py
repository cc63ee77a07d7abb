"""Models, prices, requests and replies, independent of any vendor, and the kinds of providers."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from bridle.core.messages import Message, StopReason, Usage
from bridle.core.tool import ToolSpec

ApiKind = Literal["openai", "openai-responses", "anthropic", "gemini"]
"""The APIs of vendors; each has a module of the same name in `providers/`."""
ProviderKind = Literal[ApiKind, "llama", "embedded", "scripted", "direct"]
"""What serves the models of a provider: an API, or a part of Bridle."""
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model reasons before it answers; a vendor may know only some of these."""


class Price(Struct, frozen=True):
    """Dollars per million tokens."""

    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0
    above_tokens: int = 0
    above: "Price | None" = None
    """The price of all tokens of a request whose context is longer than `above_tokens`."""

    def for_context(self, tokens: int) -> "Price":
        """Return the price of a request whose context has this many tokens."""
        if self.above is None or tokens <= self.above_tokens:
            return self
        return self.above.for_context(tokens)


class Model(Struct, frozen=True):
    """Facts about one model."""

    provider: str
    name: str
    window_tokens: int = 128_000
    max_output_tokens: int = 8_192
    price: Price | None = None
    """None means unknown; it is shown as unknown, never as zero."""
    images: bool | None = None
    """True if it accepts images; None means unknown."""
    reasoning: bool | None = None
    """True if it can reason; None means unknown."""
    params: dict[str, Any] = {}
    """Vendor parameters of the turns of a run with it."""
    effort: Effort | None = None
    """How much it reasons in a run, unless the run says otherwise."""

    @property
    def ref(self) -> str:
        """The reference that a user types: provider/model."""
        return f"{self.provider}/{self.name}"


class ModelRequest(Struct, frozen=True):
    """One request: all that a provider needs, immutable."""

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int = 8_192
    params: dict[str, Any] = {}
    """Vendor parameters; `merge_params` puts them over those of the provider."""
    output_schema: dict[str, Any] | None = None
    """A JSON Schema for the answer, enforced by the vendor if it can."""
    effort: Effort | None = None
    """None leaves it to the vendor."""


class ModelReply(Struct, frozen=True):
    """The end of a stream: the whole message and the tokens it used."""

    message: Message
    stop_reason: StopReason
    usage: Usage = Usage()
    model: str = ""
    """The model that answered, if the vendor names it."""
    cost: float | None = None
    """What the vendor charges for it, in dollars, if it says so; it counts instead of the price."""

    def cost_at(self, price: Price | None) -> float | None:
        """Return the cost of the reply in dollars, or None if it is unknown."""
        return cost_of(self.usage, price) if self.cost is None else self.cost


def merge_params(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Merge parameters, with the tables in them; of other values the last one wins."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            known = merged.get(name)
            if isinstance(known, Mapping) and isinstance(value, Mapping):
                value = merge_params(known, value)
            merged[name] = value
    return merged


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """Return the cost of a usage in dollars, or None if the price is unknown."""
    if price is None:
        return None
    price = price.for_context(usage.input + usage.cache_read + usage.cache_write)
    return (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    ) / 1_000_000
