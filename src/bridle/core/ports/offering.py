"""Optional protocols."""

from functools import cache
from typing import Any, TypeGuard, TypeVar

T = TypeVar("T")


@cache
def _offers(kind: Any, protocol: Any) -> bool:
    return issubclass(kind, protocol)


def offers(thing: Any, protocol: type[T]) -> TypeGuard[T]:
    """Tell whether something is also what a protocol says; found out once for each class of things."""
    kind: Any = type(thing)
    wanted: Any = protocol
    return _offers(kind, wanted)
