"""Normalizes vectors to length 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def normalize_rows(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Return rows of length 1; non-finite numbers and rows without a direction become zeros."""
    finite = np.where(np.isfinite(rows), rows, 0).astype(np.float64)
    lengths = np.linalg.norm(finite, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(finite, lengths, out=np.zeros_like(finite), where=lengths > 1e-9)
    return unit.astype(np.float32)
