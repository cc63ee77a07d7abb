"""Whose turn it is with the interfaces of this machine.

Chromium breaks off all requests when an address of the machine appears or goes. Tests that look at a page
keep the addresses as they are, and those that make a bridge wait until nobody looks at a page.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_FOLDER = Path(tempfile.gettempdir())


@contextmanager
def addresses_change() -> Iterator[None]:
    """Wait until no test needs the addresses as they are, and let none begin meanwhile."""
    with _locked("gate", fcntl.LOCK_EX), _locked("use", fcntl.LOCK_EX):
        yield


@contextmanager
def addresses_stay() -> Iterator[None]:
    """Keep the addresses as they are; whoever wants to change them goes first."""
    with ExitStack() as stack:
        with _locked("gate", fcntl.LOCK_SH):
            stack.enter_context(_locked("use", fcntl.LOCK_SH))
        yield


@contextmanager
def _locked(name: str, kind: int) -> Iterator[None]:
    path = _FOLDER / f"bridle-tests-addresses-{name}-{os.geteuid()}.lock"
    with path.open("a") as file:
        fcntl.flock(file, kind)
        yield
