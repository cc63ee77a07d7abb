"""Wiring for models: all configured providers and models by name, and a request that tests one."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bridle.app.folders import session_folders
from bridle.config.settings import Settings
from bridle.core.model import Model
from bridle.core.ports import ModelInfoProvider, Provider, implements

SCRIPTS = Path(__file__).parent.parent / "providers" / "scripts"

if TYPE_CHECKING:
    from bridle.config.keys import ModelSettings, ProviderSettings
    from bridle.core.ports import Models
    from bridle.providers import ModelCatalog, ModelEntry, ProviderEntry
    from bridle.providers.factory import Tell


class CustomModels:
    """Models of providers from the embedding program; they take precedence over those of the settings."""

    def __init__(
        self,
        catalog: "ModelCatalog",
        providers: Mapping[str, Provider],
        entries: "Mapping[str, ModelEntry]",
    ) -> None:
        self._catalog = catalog
        self._providers = dict(providers)
        self._entries = entries

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the provider and the model; raises what the catalog raises."""
        name, slash, model = ref.partition("/")
        provider = self._providers.get(name)
        if provider is None or not slash or not model:
            return await self._catalog.resolve(ref)
        facts = provider.model(model) if implements(provider, ModelInfoProvider) else Model(name, model)
        facts = replace(facts, provider=name, name=model)
        said = self._entries.get(ref)
        return provider, facts if said is None else said.over(facts)

    def server_pids(self) -> dict[str, int]:
        """Return the pids of the running servers, by what they serve."""
        return self._catalog.server_pids()

    async def aclose(self) -> None:
        """Release every provider."""
        await self._catalog.aclose()
        for provider in self._providers.values():
            if hasattr(provider, "aclose"):  # a small one has nothing to close
                await provider.aclose()


def with_custom_providers(
    catalog: "ModelCatalog", providers: Mapping[str, Provider], settings: Settings
) -> "Models":
    """Return the models with the embedding program's providers first, before those of the settings."""
    if not providers:
        return catalog
    entries = {ref: _model_entry(ref, model) for ref, model in settings.models.items()}
    return CustomModels(catalog, providers, entries)


def open_models(settings: Settings, tell: "Tell | None" = None) -> "ModelCatalog":
    """Create the catalog of all configured providers and models.

    `tell` is called when weights are downloaded and when they load; without it nothing is downloaded.
    """
    from bridle.providers import ModelCatalog

    # A daemon works in /, but its sessions work elsewhere.
    outside = tuple(folder for folder in session_folders(settings) if folder != "/")
    return ModelCatalog(
        {name: _provider_entry(provider, outside) for name, provider in settings.providers.items()},
        {settings.providers[name].api_key_env: key.reveal() for name, key in settings.api_keys.items()},
        models={ref: _model_entry(ref, model) for ref, model in settings.models.items()},
        script_dirs=[SCRIPTS],
        models_dir=models_dir(settings),
        today=_today,
        tell=tell,
    )


def models_dir(settings: Settings) -> Path:
    """Return the folder for downloaded weights."""
    chosen = settings.providers["embedded"].models_dir
    return Path(chosen).expanduser() if chosen else settings.home / "models"


def _provider_entry(provider: "ProviderSettings", outside: tuple[str, ...]) -> "ProviderEntry":
    from bridle.providers import ProviderEntry
    from bridle.providers.llama import LlamaOptions

    options = LlamaOptions(
        **_given(
            model=provider.model_file,
            models_dir=provider.models_dir,
            program=(provider.executable,) if provider.executable else None,
            outside=outside,
            host=provider.host,
            port=provider.port,
            ctx_size=provider.ctx_size,
            n_gpu_layers=provider.n_gpu_layers,
            threads=provider.threads,
            slots=provider.slots,
            jinja=provider.jinja,
            extra_args=provider.extra_args,
            start_timeout_s=provider.start_timeout and float(provider.start_timeout),
        )
    )
    return ProviderEntry(
        kind=provider.kind,
        base_url=provider.base_url,
        api_key_env=provider.api_key_env,
        window_tokens=provider.window_tokens,
        max_output_tokens=provider.max_output_tokens,
        headers=provider.headers,
        params=provider.params,
        system_prefix=provider.system_prompt_prefix,
        region=provider.region,
        server=options,
        tool_role=provider.tool_role,
        **_given(
            auth=provider.auth,
            tools=provider.tools,
            connect_timeout_s=provider.connect_timeout and float(provider.connect_timeout),
            idle_timeout_s=provider.idle_timeout and float(provider.idle_timeout),
        ),
    )


def _model_entry(ref: str, model: "ModelSettings") -> "ModelEntry":
    from bridle.providers import ModelEntry

    return ModelEntry(
        window_tokens=model.window_tokens,
        max_output_tokens=model.max_output_tokens,
        price=model.price.price(ref),
        images=model.images,
        reasoning=model.reasoning,
        params=model.params,
        effort=model.reasoning_effort,
    )


def _given(**values: Any) -> dict[str, Any]:
    """Leave out values that are None, so that the provider's defaults apply."""
    return {name: value for name, value in values.items() if value is not None}


def _today() -> str:
    from datetime import UTC, datetime

    from bridle.sessions.system_clock import SystemClock

    return datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC).date().isoformat()


# ---------------------------------------------------------------------------- model check
# Test a model with a one-word request.


PROMPT = "Say hello in one word."
MAX_OUTPUT_TOKENS = 200  # enough for a model that reasons first
PATIENCE_S = 60.0


async def check_model(settings: Settings, ref: str, *, patience_s: float = PATIENCE_S) -> str:
    """Return a model's answer to a tiny request; raises ProviderError or ConfigError if it fails.

    Missing weights are not downloaded.
    """
    from bridle.core.errors import ProviderError
    from bridle.core.messages import user_message
    from bridle.core.model import ModelReply, ModelRequest

    models = open_models(settings)
    try:
        async with asyncio.timeout(patience_s):
            provider, model = await models.resolve(ref)
            longest = min(MAX_OUTPUT_TOKENS, model.max_output_tokens)
            request = ModelRequest(model.name, "", (user_message(PROMPT),), max_output_tokens=longest)
            async with aclosing(provider.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, ModelReply):
                        return item.message.text.strip()
    except TimeoutError as error:
        raise ProviderError(
            f"{ref} gave no answer within {patience_s:g} s", kind="network_timeout", hint="bridle doctor"
        ) from error
    finally:
        await models.aclose()
    raise ProviderError(f"{ref} ended without an answer", kind="empty_reply", hint="bridle doctor")
