"""Provider for the embedded model: finds it by name or path and serves it from a child process."""

from pathlib import Path
from typing import Any

from bridle.providers.embedded.runtime import embedded_options
from bridle.providers.embedded.weights import find_weights
from bridle.providers.llama.options import LlamaOptions
from bridle.providers.llama.provider import LlamaProvider
from bridle.providers.llama.server import LlamaServer
from bridle.providers.llama.tool_plan import ToolMode

MAX_OUTPUT_TOKENS = 512  # stops a small model that keeps generating within seconds, not minutes


def embedded_provider(
    name: str,
    model: str,
    models_dir: Path,
    *,
    options: LlamaOptions | None = None,
    params: dict[str, Any] | None = None,
    tools: ToolMode = "auto",
    max_output_tokens: int = MAX_OUTPUT_TOKENS,
) -> LlamaProvider:
    """Return a provider for a model, by the name of its weights or the path of its file; raises ConfigError.

    It starts and downloads nothing: the first request starts the server.
    """
    server = LlamaServer(name, embedded_options(find_weights(model, models_dir), options))
    return LlamaProvider(name, server, params=params, tools=tools, max_output_tokens=max_output_tokens)
