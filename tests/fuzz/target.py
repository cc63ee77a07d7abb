"""A target: one parser, its input, and what must hold for any input."""

import importlib
from collections.abc import Callable

from msgspec import Struct

MAX_INPUT_BYTES = 32 * 1024
MAX_CPU_S = 2.0
"""Limit for one input: a thousand times the expected time, so that only a blow-up exceeds it."""


class Target(Struct, frozen=True, kw_only=True):
    """One parser under test."""

    name: str
    run: Callable[[bytes], object]
    """Feeds the parser; any exception is a finding, so expected ones are caught inside."""
    modules: tuple[str, ...]
    """The modules whose lines count."""
    tokens: tuple[bytes, ...] = ()
    """Tokens of its language."""
    is_json: bool = False
    """Inputs are lines of JSON, which are also mutated as values."""

    def files(self) -> frozenset[str]:
        """Return the source files of its modules."""
        return frozenset(str(importlib.import_module(name).__file__) for name in self.modules)


def text_of(data: bytes) -> str:
    """Read an input as the content of a text file."""
    return data.decode("utf-8", "replace")


def parts_of(data: bytes, count: int) -> list[str]:
    """Split an input at lines of `%%` into `count` texts; missing ones are empty."""
    parts = [text_of(part) for part in data.split(b"\n%%\n", count - 1)]
    return parts + [""] * (count - len(parts))
