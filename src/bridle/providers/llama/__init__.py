"""Provider for llama-server, either managed by Bridle or already running.

This package does not import `server` and `provider`, which open connections.
"""

from bridle.providers.llama.gguf import GgufHeader, read_header
from bridle.providers.llama.options import LlamaOptions

__all__ = ["GgufHeader", "LlamaOptions", "read_header"]
