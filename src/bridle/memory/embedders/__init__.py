"""Embedders, which turn texts into vectors: the one that the settings name, or the best one available.

Each lies in its own module, which is imported when it is chosen.
"""

import importlib.util
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from bridle.core.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder", "EmbedderSettings", "LocalServer", "open_embedder"]

MINILM = "minilm/all-MiniLM-L6-v2-q8_0"

Wanted = Literal["auto", "minilm", "wordllama", "server"]


class Embedder(Protocol):
    """Turns texts into vectors; texts of similar meaning get vectors of similar direction."""

    @property
    def id(self) -> str:
        """The embedder's id; vectors of different embedders cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return a row of length 1 for each text; raises BridleError."""
        ...

    async def aclose(self) -> None:
        """Release its resources; a later call loads them again."""
        ...


class LocalServer(Struct, frozen=True):
    """A local server that Bridle manages, with MiniLM loaded."""

    ready: Callable[[], Awaitable[tuple[str, dict[str, str]]]]
    """Starts it if needed; returns its address without a path, and the request headers."""
    close: Callable[[], Awaitable[None]]


class EmbedderSettings(Struct, frozen=True):
    """The embedder settings."""

    wanted: Wanted = "auto"
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    key: str = ""


def open_embedder(choice: EmbedderSettings, minilm: Callable[[], LocalServer | None]) -> Embedder | None:
    """Create the embedder; None if none is installed. Raises ConfigError if the one named is not available.

    `minilm` returns the local server, or None if its weights or its runtime are not installed.
    """
    if importlib.util.find_spec("numpy") is None:
        if choice.wanted == "auto":
            return None
        raise ConfigError(
            "memory: the package numpy is not installed", hint="pip install 'bridle-agent[memory]'"
        )
    if choice.wanted == "server":
        return _server(choice)
    if choice.wanted in ("auto", "minilm"):
        local = minilm()
        if local is not None:
            return _minilm(local)
        if choice.wanted == "minilm":
            raise ConfigError(
                "memory.embedder is minilm, which is not installed",
                hint="pip install 'bridle-agent[local]' && bridle models pull minilm",
            )
    from bridle.memory.embedders.wordllama import WordLlama, find_wordllama  # noqa: PLC0415  needs numpy

    folder = find_wordllama()
    if folder is None and choice.wanted == "wordllama":
        raise ConfigError(
            "memory.embedder is wordllama, which is not installed", hint="pip install 'bridle-agent[memory]'"
        )
    return WordLlama(folder) if folder else None


def _server(choice: EmbedderSettings) -> Embedder:
    from bridle.memory.embedders.server import Endpoint, ServerEmbedder  # noqa: PLC0415  needs numpy

    if not choice.base_url:
        raise ConfigError("memory.embedder is server, but memory.base_url is not set")
    if choice.key_env and not choice.key:
        raise ConfigError(f"memory: {choice.key_env} is not set", hint=f"export {choice.key_env}=…")
    base = choice.base_url.rstrip("/")
    url = f"{base}/embeddings" if base.endswith("/v1") else f"{base}/v1/embeddings"
    endpoint = Endpoint(url, {"Authorization": f"Bearer {choice.key}"} if choice.key else {})

    async def ready() -> Endpoint:
        return endpoint

    return ServerEmbedder(f"{base} {choice.model}".strip(), ready, model=choice.model)


def _minilm(local: LocalServer) -> Embedder:
    from bridle.memory.embedders.server import Endpoint, ServerEmbedder  # noqa: PLC0415  needs numpy

    async def ready() -> Endpoint:
        base, headers = await local.ready()
        return Endpoint(f"{base}/v1/embeddings", headers)

    return ServerEmbedder(MINILM, ready, model="minilm", close=local.close)
