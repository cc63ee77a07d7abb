"""Locks on the network addresses of this machine.

Chromium aborts all requests when an address of the machine is added or removed. Browser tests hold a shared
lock while they run; a test that adds or removes a bridge takes the lock exclusively.
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
    """Wait until no browser test is running, and hold new ones back."""
    with _locked("gate", fcntl.LOCK_EX), _locked("use", fcntl.LOCK_EX):
        yield


@contextmanager
def addresses_stay() -> Iterator[None]:
    """Prevent changes to the addresses; a test that is already waiting to change them goes first."""
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
