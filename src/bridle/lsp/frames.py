r"""The framing of messages on a pipe: a header with the length, an empty line, JSON.

```
Content-Length: 44\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"shutdown"}
```

Some servers print to the same pipe by mistake: bytes between two messages are skipped, up to a limit.
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
    """The input is not a message, and the start of the next one cannot be found."""


def encode(message: dict[str, Any]) -> bytes:
    """Encode a message with its header."""
    body = _ENCODER.encode(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Frames:
    """Splits the incoming bytes into message bodies."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None
        """The length of the incoming body; None before its header is complete."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add bytes and yield the complete bodies; raises Malformed, after which the object is unusable."""
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
        """Read the next header; False if it is incomplete."""
        found = _LENGTH.search(self._buffer)
        if (found.start() if found else len(self._buffer)) > MAX_NOISE_BYTES:
            raise Malformed("it writes other text than messages to its output")
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
