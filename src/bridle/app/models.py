"""The models: every configured provider and model by name."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridle.config.settings import Settings

SCRIPTS = Path(__file__).parent.parent / "providers" / "scripts"

if TYPE_CHECKING:
    from bridle.config.keys import ModelSettings, ProviderSettings
    from bridle.providers import ModelCatalog, ModelEntry, ProviderEntry
    from bridle.providers.opening import Tell


def open_models(settings: Settings, tell: "Tell | None" = None) -> "ModelCatalog":
    """Make every configured provider and model known by name.

    `tell` hears when weights are pulled or about to answer; without it nothing is pulled.
    """
    from bridle.providers import ModelCatalog

    return ModelCatalog(
        {name: _provider_entry(provider) for name, provider in settings.providers.items()},
        {settings.providers[name].api_key_env: key.reveal() for name, key in settings.api_keys.items()},
        models={ref: _model_entry(ref, model) for ref, model in settings.models.items()},
        script_dirs=[SCRIPTS],
        models_dir=models_dir(settings),
        today=_today,
        tell=tell,
    )


def models_dir(settings: Settings) -> Path:
    """Return the folder that pulled weights lie in."""
    chosen = settings.providers["embedded"].models_dir
    return Path(chosen).expanduser() if chosen else settings.home / "models"


def _provider_entry(provider: "ProviderSettings") -> "ProviderEntry":
    from bridle.providers import ProviderEntry
    from bridle.providers.llama import LlamaOptions

    options = LlamaOptions(
        **_given(
            model=provider.model_file,
            models_dir=provider.models_dir,
            program=(provider.executable,) if provider.executable else None,
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
        server=options,
        tool_role=provider.tool_role,
        **_given(
            tools=provider.tools,
            connect_timeout_s=provider.connect_timeout and float(provider.connect_timeout),
            idle_timeout_s=provider.idle_timeout and float(provider.idle_timeout),
        ),
    )


def _model_entry(ref: str, model: "ModelSettings") -> "ModelEntry":
    from bridle.providers import ModelEntry

    return ModelEntry(model.window_tokens, model.max_output_tokens, model.price.price(ref))


def _given(**values: Any) -> dict[str, Any]:
    """Leave out what nobody has set, so that the default of the room counts."""
    return {name: value for name, value in values.items() if value is not None}


def _today() -> str:
    from datetime import UTC, datetime

    from bridle.sessions.world import SystemClock

    return datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC).date().isoformat()
