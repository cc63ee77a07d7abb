"""The real weights, from the same source as in the tests of the managed server."""

from tests.providers.llama.conftest import weights

__all__ = ["weights"]
