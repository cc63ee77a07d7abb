"""Check that every blob named by a session's events exists and is complete, and remove unused blobs.

```
files_changed   a file before and after a change, unless it was too large to store
kernel_saved    the snapshot of a kernel
tool_finished   the full text of a long output, named in the note that replaces the omitted part
```
"""

import asyncio
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Blobs
from bridle.core.protocol import Event, FilesChanged, KernelSaved, ToolFinished
from bridle.core.tenancy import tenant_of
from bridle.stores.record_lines import Flaw, LineStore
from bridle.system import current_tenant

# ---------------------------------------------------------------------------- unused blobs
# Remove blobs that no session refers to any more.
#
# A blob is needed as long as its digest occurs anywhere in a stored line, or in what is kept for a session
# that a crash interrupted. This is simple and never removes too much.


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
    store: LineStore, blobs: PrunableBlobs, pending: Path, older_than_s: float = MIN_AGE_S
) -> int:
    """Remove the blobs that are not needed and return their number; raises StoreError."""
    kept = await asyncio.to_thread(blobs.digests)
    used = _used_in_pending(pending, kept)
    for session in await store.ids():
        async for line in store.lines(session):
            used.update(_mentioned(line, kept))
    return await asyncio.to_thread(blobs.prune, used, older_than_s)


def _used_in_pending(folder: Path, kept: set[str]) -> set[str]:
    found: set[str] = set()
    for file in folder.glob("*"):
        with suppress(FileNotFoundError):  # its content is recorded by now, and the lines are read after this
            found |= _mentioned(file.read_bytes(), kept)
    return found


def _mentioned(data: bytes, kept: set[str]) -> set[str]:
    return {digest.decode() for digest in _DIGEST.findall(data)} & kept


# ---------------------------------------------------------------------------- blob check


_NOTE = re.compile(r'bytes left out here; read_file with path "blob:([0-9a-f]{64})" shows')


class BlobCheck:
    """Reads each blob once, even if many events and sessions name it."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._verdicts: dict[tuple[str, str], Flaw | None] = {}
        """Keyed by tenant and digest."""

    async def flaws(self, session: SessionId, seq: int, event: Event) -> list[Flaw]:
        """Return the flaws of the blobs that an event names."""
        found = []
        for digest, what in find_blobs(event):
            flaw = await self._verdict(tenant_of(session), digest)
            if flaw is not None:
                found.append(Flaw(flaw.kind, f"{what}: {flaw.text}", session, seq))
        return found

    async def _verdict(self, owner: str, digest: str) -> Flaw | None:
        key = (owner, digest)
        if key not in self._verdicts:
            with current_tenant.use_tenant(owner):
                self._verdicts[key] = await asyncio.to_thread(self._read, digest)
        return self._verdicts[key]

    def _read(self, digest: str) -> Flaw | None:
        try:
            self._blobs.get(digest)
        except StoreCorrupt:
            return Flaw("damaged_blob", f"blob {digest} is damaged: its content has changed")
        except StoreError as error:
            return Flaw("missing_blob", f"blob {digest} cannot be read: {error.message}")
        return None


def find_blobs(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the digest and a description of each blob that an event names."""
    match event:
        case FilesChanged():
            for change in event.changes:
                for when, state in (("before", change.before), ("after", change.after)):
                    if state is not None and state.digest and state.kept:
                        yield state.digest, f"{change.path} {when} it was changed"
        case KernelSaved() if event.snapshot:
            yield event.snapshot, "the snapshot of the kernel"
        case ToolFinished():
            for digest in _NOTE.findall(event.result.output):
                yield digest, f"the output of {event.result.name}"
        case _:
            return
