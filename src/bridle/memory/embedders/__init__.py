"""What turns texts into vectors; each in a module of its own, imported when it is chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Gives texts of like meaning vectors of like direction."""

    @property
    def id(self) -> str:
        """Name it: vectors of another one cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return a row of length 1 for each text; raises BridleError."""
        ...

    async def aclose(self) -> None:
        """Let go of what it holds; a later call takes it again."""
        ...


__all__ = ["Embedder"]
