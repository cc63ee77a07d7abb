"""The real weights, from the same source as in the tests of the managed server."""

from tests.providers.llama.conftest import stand_in, weights

__all__ = ["stand_in", "weights"]
