"""A target: one parser, its input, and what must hold for any input."""

import importlib
from collections.abc import Callable

from msgspec import Struct

MAX_INPUT_BYTES = 32 * 1024
MAX_CPU_S = 2.0
"""What one input may take: a thousand times what it should, so that only a blow-up is more."""


class Target(Struct, frozen=True, kw_only=True):
    """One parser under test."""

    name: str
    run: Callable[[bytes], object]
    """Feeds the parser; anything it raises is a finding, so what is documented is caught within."""
    modules: tuple[str, ...]
    """Whose lines count as found."""
    tokens: tuple[bytes, ...] = ()
    """Words of its language."""
    is_json: bool = False
    """Inputs are lines of JSON, which are also changed as values."""

    def files(self) -> frozenset[str]:
        """Return the source files of its modules."""
        return frozenset(str(importlib.import_module(name).__file__) for name in self.modules)


def text_of(data: bytes) -> str:
    """Read an input as what a file of text holds."""
    return data.decode("utf-8", "replace")


def parts_of(data: bytes, count: int) -> list[str]:
    """Cut an input at lines of `%%` into so many texts; those that are missing are empty."""
    parts = [text_of(part) for part in data.split(b"\n%%\n", count - 1)]
    return parts + [""] * (count - len(parts))
