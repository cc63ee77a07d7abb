"""The real weights, as the tests of the managed server get them."""

from tests.providers.llama.conftest import weights

__all__ = ["weights"]
