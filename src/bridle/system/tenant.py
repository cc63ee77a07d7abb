"""Whose work is being done: what is kept for one tenant is not found by another."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

current: ContextVar[str] = ContextVar("tenant", default="")
"""The tenant of the session that this task works for; empty for the usual one."""


@contextmanager
def working_for(name: str) -> Iterator[None]:
    """Let what is done meanwhile be that tenant's, also in the tasks that begin."""
    token = current.set(name)
    try:
        yield
    finally:
        current.reset(token)
