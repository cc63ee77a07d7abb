"""The parts of Bridle that are installed by name, as `pip install 'bridle[NAME]'`."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tui": ("the terminal interface", ("textual",)),
    "http": ("the page and REST", ("starlette", "uvicorn", "websockets")),
    "local": ("models that run in Bridle itself", ("xllamacpp",)),
    "mcp": ("tool servers, and Bridle as one", ("mcp",)),
    "memory": ("recall by meaning", ("numpy", "tokenizers", "usearch", "wordllama")),
    "acp": ("editors", ("acp",)),
    "grpc": ("gRPC", ("grpc", "google.protobuf")),
    "comms": ("signed messages between agents", ("cryptography",)),
    "scale": ("many machines", ("dbos", "obstore", "psycopg")),
    "telemetry": ("traces and metrics", ("opentelemetry.sdk", "opentelemetry.exporter")),
}
"""What each is for, and the modules that say it is there."""


def missing_extras(extras: Mapping[str, tuple[str, tuple[str, ...]]] = EXTRAS) -> Iterator[str]:
    """Yield the extras that are not installed."""
    for name, (_, modules) in extras.items():
        if not all(map(_is_here, modules)):
            yield name


def _is_here(module: str) -> bool:
    """Tell whether a module could be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package it would lie in is not there
        return False
