"""The embedded runtime behaves like a llama-server."""

import sys
from pathlib import Path

import pytest

from bridle.core.errors import ConfigError
from bridle.providers.embedded.runtime import embedded_options, is_available
from bridle.providers.llama.options import LlamaOptions


def test_it_is_available_and_not_loaded() -> None:
    assert is_available()
    assert "xllamacpp" not in sys.modules


def test_options_are_kept_and_the_program_is_ours() -> None:
    made = embedded_options(Path("/m/x.gguf"), LlamaOptions(ctx_size=7, models_dir="/m"))

    assert (made.model, made.models_dir, made.ctx_size) == ("/m/x.gguf", "", 7)
    assert made.program[:2] == (sys.executable, "-P")


def test_it_is_served_on_loopback_only() -> None:
    with pytest.raises(ConfigError, match="loopback only"):
        embedded_options(Path("x.gguf"), LlamaOptions(host="0.0.0.0"))
