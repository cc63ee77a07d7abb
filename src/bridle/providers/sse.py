"""Parsers of streamed events: bytes in, whole events out, wherever the chunks split.

`SseParser` follows the event stream format of the HTML standard: lines end in CR, LF or CRLF, a blank line
ends an event, several `data` lines are joined by a newline, lines that begin with a colon are comments, and
an event that the end of the stream cuts off is dropped. `id` and `retry` are ignored. `AwsEventParser` reads
the binary messages of Amazon Bedrock.
"""

import base64
import binascii
import json
import zlib

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


# ---------------------------------------------------------------------------- Amazon Bedrock

AWS_EVENTS = "application/vnd.amazon.eventstream"
_PRELUDE_BYTES = 12
_LEAST_BYTES = _PRELUDE_BYTES + 4
_VALUE_BYTES = {
    0: 0,
    1: 0,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    8: 8,
    9: 16,
}  # of a header, by its type; others have a length


class AwsEventParser:
    """Parses the chunks of one binary stream into events.

    ```
    total length, length of headers, CRC of these 8 bytes │ headers │ {"bytes": base64 of an event} │ CRC
    ```
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that this chunk completes; raises SseError if one is damaged or too large."""
        self._buffer += chunk
        events = []
        while len(self._buffer) >= _PRELUDE_BYTES:
            size = int.from_bytes(self._buffer[:4], "big")
            if int.from_bytes(self._buffer[8:12], "big") != zlib.crc32(self._buffer[:8]):
                raise SseError("an event is damaged")
            if not _LEAST_BYTES <= size <= self._max_event_bytes:
                raise SseError(f"an event is larger than {self._max_event_bytes:,} bytes")
            if len(self._buffer) < size:
                break
            message, self._buffer = bytes(self._buffer[:size]), self._buffer[size:]
            events.append(_aws_event(message))
        return events


def _aws_event(message: bytes) -> ServerEvent:
    headers_end = _PRELUDE_BYTES + int.from_bytes(message[4:8], "big")
    if headers_end + 4 > len(message) or int.from_bytes(message[-4:], "big") != zlib.crc32(message[:-4]):
        raise SseError("an event is damaged")
    headers = _aws_headers(message[_PRELUDE_BYTES:headers_end])
    try:
        payload = json.loads(message[headers_end:-4])
        if headers.get(":message-type", "event") == "event":
            return ServerEvent(base64.b64decode(payload["bytes"], validate=True))
        kind = headers.get(":exception-type") or headers.get(":error-code", "")
        error = {"type": kind, "message": str(payload.get("message", ""))}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise SseError("an event is not what Bedrock sends") from error
    return ServerEvent(json.dumps({"type": "error", "error": error}).encode())


def _aws_headers(data: bytes) -> dict[str, str]:
    """Return the headers that are texts."""
    headers, at = {}, 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name, kind = data[at + 1 : name_end], data[name_end : name_end + 1]
        at = name_end + 1
        size = _VALUE_BYTES.get(kind[0]) if kind else 0
        if size is None:
            size, at = int.from_bytes(data[at : at + 2], "big"), at + 2
        if kind == b"\x07":
            headers[name.decode("utf-8", "replace")] = data[at : at + size].decode("utf-8", "replace")
        at += size
    return headers
