r"""The framing of messages on a pipe: a header that says how long, an empty line, JSON.

```
Content-Length: 52\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"shutdown"}
```

Some servers print to the same pipe by mistake: what stands between two messages is skipped, up to a limit.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_HEADER_BYTES = 4 * 1024
MAX_NOISE_BYTES = 64 * 1024

_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_END = re.compile(rb"\r?\n\r?\n")
_ENCODER = msgspec.json.Encoder()


class Malformed(Exception):
    """What came is no message, and it cannot be told where the next one begins."""


def encode(message: dict[str, Any]) -> bytes:
    """Frame a message."""
    body = _ENCODER.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Frames:
    """Cuts what arrives into the bodies of messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None
        """The length of the body that is on its way; None before its header is complete."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes and yield the bodies that are complete; raises Malformed, and is of no use then."""
        self._buffer += data
        while True:
            if self._wanted is None and not self._read_header():
                return
            assert self._wanted is not None
            if len(self._buffer) < self._wanted:
                return
            body = bytes(self._buffer[: self._wanted])
            del self._buffer[: self._wanted]
            self._wanted = None
            yield body

    def _read_header(self) -> bool:
        """Read the next header, if all of it is there."""
        found = _LENGTH.search(self._buffer)
        if (found.start() if found else len(self._buffer)) > MAX_NOISE_BYTES:
            raise Malformed("it writes something else than messages to its output")
        if found is None:
            return False
        end = _END.search(self._buffer, found.end(1))
        if (end.end() if end else len(self._buffer)) - found.start() > MAX_HEADER_BYTES:
            raise Malformed("a header has no end")
        if end is None:
            return False
        self._wanted = int(found[1])
        if self._wanted > MAX_MESSAGE_BYTES:
            raise Malformed(f"a message of {self._wanted} bytes is too long")
        del self._buffer[: end.end()]
        return True
