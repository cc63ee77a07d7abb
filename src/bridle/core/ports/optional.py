"""Check whether an object implements an optional protocol."""

from functools import cache
from typing import Any, TypeGuard, TypeVar

T = TypeVar("T")


@cache
def _offers(kind: Any, protocol: Any) -> bool:
    return issubclass(kind, protocol)


def implements(thing: Any, protocol: type[T]) -> TypeGuard[T]:
    """Return True if an object implements a protocol; checked once per class."""
    kind: Any = type(thing)
    wanted: Any = protocol
    return _offers(kind, wanted)
