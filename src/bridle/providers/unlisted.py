"""Provider wrapper for a model that the catalog does not list: it may be new, or its name misspelled."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bridle.core.errors import ProviderError
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.ports import Provider
from bridle.core.protocol import Delta


class UnlistedModelProvider:
    """Wraps a provider and suggests similar names if the provider does not find the model either."""

    def __init__(self, provider: Provider, hint: str) -> None:
        self.hint = hint
        self._provider = provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield what the provider yields; raises ProviderError, with `hint` if the model is not found."""
        async with aclosing(self._provider.stream(request)) as stream:
            try:
                async for item in stream:
                    yield item
            except ProviderError as error:
                if error.kind == "model_not_found":
                    error.hint = self.hint
                raise

    async def aclose(self) -> None:
        """Close the provider's connections."""
        await self._provider.aclose()
