"""The model that needs no key and no network: weights from the package registry, a child process.

`provider`, which opens connections, is not imported from here.
"""

from bridle.providers.embedded.runtime import embedded_options, is_available
from bridle.providers.embedded.weights import (
    DEFAULT_WEIGHTS,
    EMBEDDING_WEIGHTS,
    KNOWN_WEIGHTS,
    Progress,
    Weights,
    find_weights,
    is_present,
    pull,
    weights_path,
)

__all__ = [
    "DEFAULT_WEIGHTS",
    "EMBEDDING_WEIGHTS",
    "KNOWN_WEIGHTS",
    "Progress",
    "Weights",
    "embedded_options",
    "find_weights",
    "is_available",
    "is_present",
    "pull",
    "weights_path",
]
