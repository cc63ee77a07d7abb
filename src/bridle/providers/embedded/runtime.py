"""The embedded runtime: the command line that serves a GGUF file like a llama-server, in a child process."""

import importlib.util
import sys
from pathlib import Path

from msgspec.structs import replace

from bridle.core.errors import ConfigError
from bridle.providers.llama.options import LlamaOptions

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_SERVER = Path(__file__).with_name("server.py")


def is_available() -> bool:
    """Return True if the runtime is installed, without loading it."""
    return importlib.util.find_spec("xllamacpp") is not None


def embedded_options(model: Path, options: LlamaOptions | None = None) -> LlamaOptions:
    """Return the options that serve a GGUF file with the embedded runtime; raises ConfigError."""
    options = options or LlamaOptions()
    if not is_available():
        raise ConfigError(
            "the embedded model needs the package xllamacpp, which is not installed",
            hint="pip install 'bridle-agent[local]'",
        )
    if options.host not in LOOPBACK:
        raise ConfigError(f"the embedded model is served on loopback only, not on {options.host}")
    return replace(options, model=str(model), models_dir="", program=(sys.executable, "-P", str(_SERVER)))
