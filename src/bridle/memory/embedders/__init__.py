"""Embedders, which turn texts into vectors; each in its own module, imported when chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


__all__ = ["Embedder"]
