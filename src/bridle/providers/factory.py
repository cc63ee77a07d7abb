"""Factories for the providers that need a network connection or a local server process.

Importing this module imports aiohttp, which is slow, so `catalog` does it only when such a model is
requested.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from msgspec.structs import replace

from bridle.core.errors import ConfigError, ProviderError
from bridle.core.model import ApiKind
from bridle.core.ports import Provider
from bridle.providers.embedded import DEFAULT_WEIGHTS, Progress, Weights, is_available, is_present, pull
from bridle.providers.embedded.adapter import adapter_problem
from bridle.providers.embedded.provider import MAX_OUTPUT_TOKENS as EMBEDDED_OUTPUT_TOKENS
from bridle.providers.embedded.provider import embedded_provider
from bridle.providers.http import Sign
from bridle.providers.llama.provider import DEFAULT_MAX_OUTPUT_TOKENS, LlamaProvider
from bridle.providers.llama.server import ExternalServer, LlamaServer
from bridle.providers.provider_settings import ProviderEntry

Tell = Callable[[Weights, Progress | None], None]
"""Called with the progress of a download, and with None when the model is about to be used."""


def open_remote(name: str, kind: ApiKind, entry: ProviderEntry, key: str) -> Provider:
    """Return the provider for a vendor's API, or for a compatible server."""
    api = import_module(f"bridle.providers.{kind.replace('-', '_')}")
    open_provider: Callable[..., Provider] = api.open_provider
    if kind == "anthropic" and entry.auth in ("aws", "google"):
        open_provider = (api.BedrockProvider if entry.auth == "aws" else api.VertexProvider).at
    headers = entry.headers
    if entry.auth == "azure" and key:
        key, headers = "", {"api-key": key, **headers}
    return open_provider(
        name,
        entry.base_url,
        key,
        headers=headers,
        sign=_signer(name, entry),
        params=entry.params,
        system_prefix=entry.system_prefix,
        connect_timeout_s=entry.connect_timeout_s,
        idle_timeout_s=entry.idle_timeout_s,
    )


def _signer(name: str, entry: ProviderEntry) -> Sign | None:
    """Return what signs the requests for a cloud; None for a provider with a key."""
    if entry.auth not in ("aws", "google"):
        return None
    from bridle.providers.cloud_auth import AwsSigner, GoogleSigner  # noqa: PLC0415 - few need it

    if entry.auth == "google":
        return GoogleSigner(name)
    if not entry.region:
        raise ConfigError(f'provider "{name}": auth "aws" needs a region', hint='region = "us-east-1"')
    return AwsSigner(name, entry.region)


def open_llama(name: str, entry: ProviderEntry, key: str) -> LlamaProvider:
    """Return the provider for a llama-server: one that Bridle starts on demand, or one that already runs."""
    server = (
        LlamaServer(name, entry.server)
        if entry.is_ours
        else ExternalServer(name, entry.base_url, api_key=key, window_guess=entry.window_tokens or 0)
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
    """Return the provider for an embedded model; downloads missing default weights only if `tell` is given.

    Raises ConfigError or ProviderError.
    """
    if not is_available():
        raise ConfigError(
            f'model "{name}/{model}": the package xllamacpp, which it needs, is not installed',
            hint="pip install 'bridle-agent[local]', or bridle config set model PROVIDER/MODEL",
        )
    if model == DEFAULT_WEIGHTS.name:
        await _ensure_weights(models_dir, tell)
    return embedded_provider(
        name,
        model,
        models_dir,
        options=entry.server,
        params=entry.params,
        tools=entry.tools,
        max_output_tokens=entry.max_output_tokens or EMBEDDED_OUTPUT_TOKENS,
    )


async def _ensure_weights(models_dir: Path, tell: Tell | None) -> None:
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
        problem = await asyncio.to_thread(adapter_problem, models_dir)
        line = f"{weights.name} only chats: {problem} (hint: reinstall bridle-agent)"
        tell(replace(weights, honest_line=line) if problem else weights, None)
