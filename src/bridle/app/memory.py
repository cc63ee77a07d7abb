"""Wiring for memory: semantic search over the sessions of a store."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bridle.app.models import models_dir
from bridle.app.tools import masker
from bridle.config.settings import Settings
from bridle.core.ports import Store

MINILM_TOKENS = 512  # the model's context size

if TYPE_CHECKING:
    from bridle.memory.embedders import LocalServer
    from bridle.memory.local import LocalMemory


def memory_in(settings: Settings, environ: Mapping[str, str], store: Store) -> "LocalMemory | None":
    """Create the memory over the sessions of a store; None if it is off or the store keeps nothing."""
    memory = settings.memory
    if not memory.enabled or settings.store.backend == "ephemeral":
        return None
    from bridle.config.settings import project_root
    from bridle.memory.embedders import EmbedderSettings, open_embedder
    from bridle.memory.local import LocalMemory
    from bridle.sessions.system_clock import SystemClock

    key = environ.get(memory.api_key_env, "") if memory.api_key_env else ""
    choice = EmbedderSettings(memory.embedder, memory.base_url, memory.model, memory.api_key_env, key)
    return LocalMemory(
        settings.home / "memory",
        store,
        SystemClock(),
        root_of=lambda cwd: str(project_root(environ, Path(cwd))),
        mask=masker(settings, environ).mask,
        open_embedder=lambda: open_embedder(choice, lambda: _minilm(settings)),
        min_score=memory.min_score,
        exact_up_to=memory.exact_up_to,
    )


def _minilm(settings: Settings) -> "LocalServer | None":
    """Serve MiniLM from a local process, started on the first request; None if it is not installed."""
    from bridle.memory.embedders import LocalServer
    from bridle.providers.embedded import EMBEDDING_WEIGHTS as WEIGHTS
    from bridle.providers.embedded import embedded_options, is_available, is_present, weights_path
    from bridle.providers.llama import LlamaOptions
    from bridle.providers.llama.server import LlamaServer

    folder = models_dir(settings)
    if not is_available() or not is_present(folder, WEIGHTS):
        return None
    options = LlamaOptions(ctx_size=MINILM_TOKENS, jinja=False, extra_args=("--embedding",))
    server = LlamaServer("minilm", embedded_options(weights_path(folder, WEIGHTS), options))

    async def ready() -> tuple[str, dict[str, str]]:
        address = await server.ready()
        return address.url, address.headers

    return LocalServer(ready, server.aclose)
