"""Check the blobs that the events of a session name: each is there, whole, and what was kept.

```
files_changed   what a file was before and after, unless it was too large to keep
kernel_saved    the snapshot of a kernel
tool_finished   the whole of a long output, named in the note that stands for what was left out
```
"""

import asyncio
import re
from collections.abc import Iterator

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Blobs
from bridle.core.protocol import Event, FilesChanged, KernelSaved, ToolFinished
from bridle.core.tenancy import tenant_of
from bridle.stores.lines import Flaw
from bridle.system import tenant

_NOTE = re.compile(r'bytes left out here; read_file with path "blob:([0-9a-f]{64})" shows')


class BlobCheck:
    """Reads each blob once, however many events and sessions name it."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._verdicts: dict[tuple[str, str], Flaw | None] = {}
        """By tenant and digest."""

    async def flaws(self, session: SessionId, seq: int, event: Event) -> list[Flaw]:
        """Return what is wrong with the blobs that an event names."""
        found = []
        for digest, what in named_blobs(event):
            flaw = await self._verdict(tenant_of(session), digest)
            if flaw is not None:
                found.append(Flaw(flaw.kind, f"{what}: {flaw.text}", session, seq))
        return found

    async def _verdict(self, owner: str, digest: str) -> Flaw | None:
        key = (owner, digest)
        if key not in self._verdicts:
            with tenant.working_for(owner):
                self._verdicts[key] = await asyncio.to_thread(self._read, digest)
        return self._verdicts[key]

    def _read(self, digest: str) -> Flaw | None:
        try:
            self._blobs.get(digest)
        except StoreCorrupt:
            return Flaw("damaged_blob", f"blob {digest} is damaged: its bytes are not those that were kept")
        except StoreError as error:
            return Flaw("missing_blob", f"blob {digest} cannot be read: {error.message}")
        return None


def named_blobs(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the digests of the blobs that an event names, each with what it is."""
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
