"""Replay protection: remembers received envelopes, also across restarts, to refuse copies sent again.

```
file   sender's key (32 bytes) | id (16 bytes), one after the other, newest last
```
"""

import os
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from uuid import UUID

from bridle.comms.files import PRIVATE, read_file, write_file
from bridle.comms.identity import KEY_BYTES
from bridle.core.errors import ConfigError

MAX_REMEMBERED = 4096
"""Ids remembered per peer; only that peer's own envelopes push them out."""
MAX_RECORDS = 65536
"""Records appended to the file before it is rewritten without the forgotten ones."""
MAX_FILE_BYTES = 64 * 1024**2
"""Enough for all ids of 340 peers."""
_RECORD_BYTES = KEY_BYTES + 16


class ReplayGuard:
    """The received ids of each sender, in memory and in a file."""

    def __init__(
        self, path: Path, *, max_remembered: int = MAX_REMEMBERED, max_records: int = MAX_RECORDS
    ) -> None:
        self._path = path
        self._max_remembered = max_remembered
        self._max_records = max_records
        self._ids: dict[bytes, OrderedDict[bytes, None]] = {}
        self._records = 0  # appended since the file was rewritten
        self._writing = Lock()  # invariant: the file holds every id that was kept, whichever thread writes

    def load(self) -> None:
        """Load the file; blocking; raises ConfigError."""
        data = read_file(self._path, MAX_FILE_BYTES, forbidden=PRIVATE) or b""
        whole = len(data) - len(data) % _RECORD_BYTES  # a crash may have truncated the last record
        for start in range(0, whole, _RECORD_BYTES):
            record = data[start : start + _RECORD_BYTES]
            self._remember(record[:KEY_BYTES], record[KEY_BYTES:])
        self._rewrite()

    def has(self, sender: bytes, envelope_id: str) -> bool:
        """Return whether an envelope was received before."""
        return UUID(envelope_id).bytes in self._ids.get(sender, ())

    def add(self, sender: bytes, envelope_id: str) -> None:
        """Remember an envelope, in memory only."""
        self._remember(sender, UUID(envelope_id).bytes)

    def keep(self, sender: bytes, envelope_id: str) -> None:
        """Append a remembered envelope to the file; blocking; raises ConfigError."""
        with self._writing:
            if self._records >= self._max_records:
                self._rewrite()
                return
            try:
                descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.write(descriptor, sender + UUID(envelope_id).bytes)
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise ConfigError(f"{self._path}: cannot be written: {error.strerror}") from error
            self._records += 1

    def _remember(self, sender: bytes, number: bytes) -> None:
        ids = self._ids[sender] = self._ids.pop(sender, OrderedDict())  # the most recent sender comes last
        ids[number] = None
        if len(ids) > self._max_remembered:
            ids.popitem(last=False)

    def _rewrite(self) -> None:
        records = [sender + number for sender, ids in list(self._ids.items()) for number in list(ids)]
        write_file(self._path, b"".join(records))
        self._records = 0
