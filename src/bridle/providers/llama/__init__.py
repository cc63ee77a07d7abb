"""A llama-server, started and watched by Bridle or found running, and the models it serves.

`server` and `provider`, which open connections, are not imported from here.
"""

from bridle.providers.llama.gguf import GgufHeader, read_header
from bridle.providers.llama.options import LlamaOptions

__all__ = ["GgufHeader", "LlamaOptions", "read_header"]
