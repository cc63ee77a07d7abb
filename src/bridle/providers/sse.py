"""Server-sent events parser: bytes in, whole events out, wherever the chunks split.

Follows the event stream format of the HTML standard: lines end in CR, LF or CRLF, a blank line ends an
event, several `data` lines are joined by a newline, lines that begin with a colon are comments, and an
event that the end of the stream cuts off is dropped. `id` and `retry` are ignored.
"""

from msgspec import Struct

MAX_EVENT_BYTES = 16 * 1024 * 1024  # an image in one event may take megabytes
_BOM = b"\xef\xbb\xbf"


class SseError(ValueError):
    """An event is too large to read."""


class ServerEvent(Struct, frozen=True, gc=False):
    """One event; `data` is the raw payload, not yet checked to be UTF-8."""

    data: bytes
    name: str = ""


class SseParser:
    """Parses the chunks of one stream into events."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._tail: list[bytes] = []  # pieces of the incomplete last line
        self._tail_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name = b""
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that this chunk completes; raises SseError if one is too large."""
        chunk = self._with_plain_newlines(chunk)
        end = chunk.rfind(b"\n")
        if end < 0:
            self._keep(chunk)
            return []
        lines = b"".join([*self._tail, chunk[:end]]).split(b"\n")
        self._tail, self._tail_bytes = [], 0
        if self._at_start:
            self._at_start = False
            lines[0] = lines[0].removeprefix(_BOM)
        events = self._read(lines)
        self._keep(chunk[end + 1 :])
        return events

    def _with_plain_newlines(self, chunk: bytes) -> bytes:
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")  # the CR before it already ended the line
        if b"\r" not in chunk:
            return chunk
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._tail.append(piece)
        self._tail_bytes += len(piece)
        self._check_size()

    def _check_size(self) -> None:
        if self._tail_bytes + self._data_bytes > self._max_event_bytes:
            raise SseError(f"an event is larger than {self._max_event_bytes:,} bytes")

    def _read(self, lines: list[bytes]) -> list[ServerEvent]:
        events = []
        for line in lines:
            if not line:
                if self._data:
                    data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
                    name = self._name.decode("utf-8", "replace") if self._name else ""
                    events.append(ServerEvent(data, name))
                    self._data, self._data_bytes = [], 0
                self._name = b""
                continue
            field, _, value = line.partition(b":")
            if field == b"data":
                self._data.append(value.removeprefix(b" "))
                self._data_bytes += len(value) + 1
                self._check_size()
            elif field == b"event":
                self._name = value.removeprefix(b" ")
        return events


def encode_event(data: bytes, name: str = "") -> bytes:
    """Return one event as bytes; `data` must be a single line, such as compact JSON."""
    if name:
        return b"event: %b\ndata: %b\n\n" % (name.encode(), data)
    return b"data: %b\n\n" % data
