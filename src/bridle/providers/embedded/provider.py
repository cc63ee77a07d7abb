"""Provider for the embedded model: finds it by name or path and serves it from a child process."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bridle.providers.embedded.adapter import ADAPTER_FILE, adapter_problem
from bridle.providers.embedded.runtime import embedded_options
from bridle.providers.embedded.trained_format import TrainedFormat
from bridle.providers.embedded.weights import find_weights, weights_path
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
    weights = find_weights(model, models_dir)
    options = embedded_options(weights, options)
    is_trained = tools == "auto" and weights == weights_path(models_dir) and not adapter_problem(models_dir)
    if is_trained:
        options = replace(options, extra_args=(*options.extra_args, "--lora", str(ADAPTER_FILE)))
    return LlamaProvider(
        name,
        LlamaServer(name, options),
        params=params,
        tools=tools,
        chat_format=TrainedFormat(name) if is_trained else None,
        max_output_tokens=max_output_tokens,
    )
