"""The ports for models: providers, and the catalog that finds them."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from bridle.core.messages import Message
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.protocol import Delta


class Provider(Protocol):
    """An adapter to one model API."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive and the whole reply last; raises ProviderError.

        A caller that stops early closes the generator, which closes the connection.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """Optional for a provider: it has its model's tokenizer."""

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; never raises, estimates if it cannot count."""
        ...


@runtime_checkable
class SchemaEnforcer(Protocol):
    """Optional for a provider: it can enforce a JSON Schema on an answer."""

    def unenforced(self, schema: dict[str, Any]) -> tuple[str, ...]:
        """Return the parts of a schema that are not enforced; empty if all are."""
        ...


@runtime_checkable
class ModelInfoProvider(Protocol):
    """Optional for a provider: it supplies the facts of its models."""

    def model(self, name: str) -> Model:
        """Return the facts of a model: its window, its price, whether it accepts images."""
        ...


class Models(Protocol):
    """Find the provider for a model reference such as `openai/gpt-5`."""

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the provider and the model; raises ConfigError with similar names for an unknown one.

        May start a local model server; raises ProviderError if that fails or the API key is missing.
        """
        ...

    async def aclose(self) -> None:
        """Release every provider."""
        ...


@runtime_checkable
class LocalModels(Protocol):
    """Optional for `Models`: some models are served by local processes that Bridle started."""

    def server_pids(self) -> dict[str, int]:
        """Return the pids of the running servers, by what they serve."""
        ...


class SummaryRequest(Struct, frozen=True):
    """What a compactor sums up."""

    messages: tuple[Message, ...]
    """The old messages, which the summary replaces."""
    summary: str
    """The summary of what came before them, from the compaction before; empty for none."""
    pins: tuple[str, ...]
    """Texts that stay verbatim beside the summary."""
    keep: str
    """What the user asked to keep; empty for nothing."""
    max_tokens: int
    """A longer summary is cut at a paragraph."""


class Compactor(Protocol):
    """Writes the summary that replaces old messages, instead of a model."""

    async def summarise(self, request: SummaryRequest) -> str:
        """Return the summary; if it raises or returns no text, the messages stay as they are."""
        ...


@runtime_checkable
class CompactionTiming(Protocol):
    """Optional for a compactor: it decides when to compact, as long as the messages fit into the window."""

    def is_due(self, tokens: int, window: int) -> bool:
        """Return True to compact before the next request, which has so many tokens; it must be quick."""
        ...
