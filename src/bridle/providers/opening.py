"""Opening a provider of each kind that has a network or a process behind it.

Importing this module costs the time of importing aiohttp: `catalog` does it when such a model is asked for.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from bridle.core.errors import ConfigError, ProviderError
from bridle.core.ports import Provider
from bridle.providers.anthropic import AnthropicProvider
from bridle.providers.embedded import DEFAULT_WEIGHTS, Progress, Weights, is_available, is_present, pull
from bridle.providers.embedded.provider import MAX_OUTPUT_TOKENS as EMBEDDED_OUTPUT_TOKENS
from bridle.providers.embedded.provider import embedded_provider
from bridle.providers.entries import ProviderEntry
from bridle.providers.gemini import GeminiProvider
from bridle.providers.llama.provider import DEFAULT_MAX_OUTPUT_TOKENS, LlamaProvider
from bridle.providers.llama.server import LlamaServer, RunningServer
from bridle.providers.openai import OpenAIProvider
from bridle.providers.responses import ResponsesProvider

Tell = Callable[[Weights, Progress | None], None]
"""Hears how far a pull is, and, without progress, that the weights are going to answer."""

_WIRES: dict[str, Callable[..., Provider]] = {
    "openai": OpenAIProvider.at,
    "openai-responses": ResponsesProvider.at,
    "anthropic": AnthropicProvider.at,
    "gemini": GeminiProvider.at,
}


def open_remote(name: str, entry: ProviderEntry, key: str) -> Provider:
    """Open the wire of a vendor, or of a server that speaks like one."""
    return _WIRES[entry.kind](
        name,
        entry.base_url,
        key,
        headers=entry.headers,
        params=entry.params,
        connect_timeout_s=entry.connect_timeout_s,
        idle_timeout_s=entry.idle_timeout_s,
    )


def open_llama(name: str, entry: ProviderEntry, key: str) -> LlamaProvider:
    """Open a llama-server: one that Bridle starts when it is needed, or one that runs already."""
    server = (
        LlamaServer(name, entry.server)
        if entry.is_ours
        else RunningServer(name, entry.base_url, api_key=key, window_guess=entry.window_tokens or 0)
    )
    return LlamaProvider(
        name,
        server,
        params=entry.params,
        tools=entry.tools,
        tool_role=entry.tool_role,
        max_output_tokens=entry.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS,
        idle_timeout_s=entry.idle_timeout_s,
    )


async def open_embedded(
    name: str, entry: ProviderEntry, model: str, models_dir: Path, tell: Tell | None
) -> LlamaProvider:
    """Open a model in the embedded runtime, pulling the default weights if somebody can be told about it.

    Raises ConfigError or ProviderError.
    """
    if not is_available():
        raise ConfigError(
            f'model "{name}/{model}": the package xllamacpp, which runs it, is not installed',
            hint="pip install 'bridle-agent[local]', or bridle config set model PROVIDER/MODEL",
        )
    if model == DEFAULT_WEIGHTS.name:
        await _have_weights(models_dir, tell)
    return embedded_provider(
        name,
        model,
        models_dir,
        options=entry.server,
        params=entry.params,
        tools=entry.tools,
        max_output_tokens=entry.max_output_tokens or EMBEDDED_OUTPUT_TOKENS,
    )


async def _have_weights(models_dir: Path, tell: Tell | None) -> None:
    weights = DEFAULT_WEIGHTS
    if not is_present(models_dir, weights):
        if tell is None:
            raise ProviderError(
                f"{weights.name}: its weights are not in {models_dir} yet",
                kind="model_not_found",
                hint="bridle models pull",
            )
        await pull(models_dir, weights=weights, on_progress=partial(tell, weights))
    if tell:
        tell(weights, None)
