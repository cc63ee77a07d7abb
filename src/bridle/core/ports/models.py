"""What answers: providers, and who knows them."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol, runtime_checkable

from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.protocol import Delta


class Provider(Protocol):
    """An adapter to one model API."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield deltas as they arrive and the whole reply last; raises ProviderError.

        Who stops listening closes the generator, and with it the connection.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


@runtime_checkable
class TokenCounter(Protocol):
    """What a provider may also be: one that knows its model's tokenizer."""

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text; never raises, it estimates where it cannot count."""
        ...


@runtime_checkable
class SchemaHolder(Protocol):
    """What a provider may also be: one that can hold an answer to a JSON Schema."""

    def unheld(self, schema: dict[str, Any]) -> tuple[str, ...]:
        """Say what of a schema an answer is not held to; nothing if all of it counts."""
        ...


@runtime_checkable
class KnowsModels(Protocol):
    """What a provider may also be: one that knows the facts of its models."""

    def model(self, name: str) -> Model:
        """Return what is true of a model: its window, its price, whether it takes images."""
        ...


class Models(Protocol):
    """Finds the provider behind a model reference such as `openai/gpt-5`."""

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the adapter and the facts; raises ConfigError with near misses for an unknown one.

        May start what serves the model; raises ProviderError when that fails or its key is missing.
        """
        ...

    async def aclose(self) -> None:
        """Release every provider."""
        ...


@runtime_checkable
class LocalModels(Protocol):
    """What models may also be: served by processes of ours."""

    def server_pids(self) -> dict[str, int]:
        """Return the processes that live, by what they serve."""
        ...
