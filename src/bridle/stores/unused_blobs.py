"""Remove blobs that no session refers to any more.

A blob is needed as long as its digest occurs anywhere in a stored line, or in what is kept for a session
that a crash interrupted. This is simple and never removes too much.
"""

import asyncio
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from bridle.stores.record_lines import LineStore

MIN_AGE_S = 3600.0  # younger blobs may belong to a call that is still running

_DIGEST = re.compile(rb"[0-9a-f]{64}")


@runtime_checkable
class PrunableBlobs(Protocol):
    """Blobs that outlive the process and can be removed; both methods block."""

    def digests(self) -> set[str]:
        """Return the digests of all stored blobs, of all tenants; raises StoreError."""
        ...

    def prune(self, used: Collection[str], older_than_s: float) -> int:
        """Remove blobs not in `used` and last put that long ago; return how many; raises StoreError."""
        ...


async def prune_blobs(
    store: LineStore, blobs: PrunableBlobs, aside: Path, older_than_s: float = MIN_AGE_S
) -> int:
    """Remove the blobs that are not needed and return their number; raises StoreError."""
    kept = await asyncio.to_thread(blobs.digests)
    used = _aside(aside, kept)
    for session in await store.ids():
        async for line in store.lines(session):
            used.update(_mentioned(line, kept))
    return await asyncio.to_thread(blobs.prune, used, older_than_s)


def _aside(folder: Path, kept: set[str]) -> set[str]:
    found: set[str] = set()
    for file in folder.glob("*"):
        with suppress(FileNotFoundError):  # its content is recorded by now, and the lines are read after this
            found |= _mentioned(file.read_bytes(), kept)
    return found


def _mentioned(data: bytes, kept: set[str]) -> set[str]:
    return {digest.decode() for digest in _DIGEST.findall(data)} & kept
