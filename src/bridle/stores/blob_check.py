"""Check that every blob named by a session's events exists, is complete and has the stored content.

```
files_changed   a file before and after a change, unless it was too large to store
kernel_saved    the snapshot of a kernel
tool_finished   the full text of a long output, named in the note that replaces the omitted part
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
from bridle.stores.record_lines import Flaw
from bridle.system import current_tenant

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
