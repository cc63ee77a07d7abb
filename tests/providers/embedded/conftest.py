"""The real weights, as the tests of the managed server get them."""

from tests.providers.llama.conftest import stand_in, weights

__all__ = ["stand_in", "weights"]
