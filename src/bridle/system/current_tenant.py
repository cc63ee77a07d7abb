"""The current tenant, as a context variable, to keep the data of tenants apart."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

current: ContextVar[str] = ContextVar("tenant", default="")
"""The tenant of the session that this task works for; empty for the default tenant."""


@contextmanager
def use_tenant(name: str) -> Iterator[None]:
    """Set the current tenant for this block and for the tasks started in it."""
    token = current.set(name)
    try:
        yield
    finally:
        current.reset(token)
