"""The protocol between Bridle and a guest: JSON lines, each with a `type`.

| to the guest | from the guest |
|---|---|
| `init` tools, output, mode, warm, … | `ready` protocol, capabilities, python |
| `exec` id, code | `exec_result` id, output, response, error |
| `tool_result` id, success, result | `tool_call` id, name, args, exec |
| `snapshot` id, codec, max_bytes | `snapshot_result` id, data, dropped, codec |
| `restore` id, data, codec | (`exec_result`) |
| `reset` id | `reset_result` id, threads |
| `interrupt` id, `shutdown` | `message` text, kind, exec; `tool_cancel` id |

Missing fields are empty and unknown ones are ignored: a guest of the oldest protocol sends `ready` without
any field.
"""

import json
from typing import Literal

import msgspec
from msgspec import Struct

from bridle.core.malformed import MALFORMED
from bridle.core.surrogates import replace_surrogates

MAX_LINE_BYTES = 8 * 1024 * 1024

Codec = Literal["json", "rich"]
_NAMES = {
    "MessageFrame": "message",
    "ToolResult": "tool_result",
    "ToolCall": "tool_call",
    "ToolCancel": "tool_cancel",
    "ExecResult": "exec_result",
    "SnapshotResult": "snapshot_result",
    "ResetResult": "reset_result",
}


def _tag(name: str) -> str:
    return _NAMES.get(name, name.lower())


class Frame(Struct, frozen=True, tag_field="type", tag=_tag, omit_defaults=True):
    """One line of the protocol."""


class Init(Frame, frozen=True):
    tools: str
    """The definitions of the tools, as JSON text."""
    output: Literal["", "stream"] = ""
    """Where printed text goes: into the result, or, with "stream", to fd 2 as it is printed."""
    mode: Literal["strict", "kaml"] = "strict"
    warm: bool = False
    signals: bool = False
    """True if each interrupt comes with SIGTERM; a cell then needs two system calls less."""
    cancels: bool = False
    """True if the guest must report calls that no code waits for any more."""


class Exec(Frame, frozen=True):
    id: str
    code: str


class ToolResult(Frame, frozen=True):
    id: str
    success: bool
    result: str
    """The result as JSON text."""


class Snapshot(Frame, frozen=True):
    id: str
    codec: Codec = "json"
    max_bytes: int | None = None


class Restore(Frame, frozen=True):
    id: str
    data: str
    codec: Codec = "json"


class Interrupt(Frame, frozen=True):
    id: str


class Reset(Frame, frozen=True):
    id: str


class Shutdown(Frame, frozen=True):
    pass


class Ready(Frame, frozen=True):
    protocol: int = 0
    capabilities: tuple[str, ...] = ()
    python: str = ""


class ToolCall(Frame, frozen=True):
    id: str
    name: str
    args: str = "{}"
    """The arguments as JSON text."""
    exec: str = ""


class ToolCancel(Frame, frozen=True):
    id: str


class MessageFrame(Frame, frozen=True):
    text: str
    kind: str = "progress"
    exec: str = ""


class ExecResult(Frame, frozen=True):
    id: str
    output: str = ""
    """The last printed text: what was not written to fd 2."""
    response: str = ""
    error: str | None = None


class Dropped(Struct, frozen=True):
    """A name that is missing from a snapshot."""

    name: str
    why: str = ""


class SnapshotResult(Frame, frozen=True):
    id: str
    data: str
    dropped: tuple[Dropped, ...] = ()
    codec: Codec = "json"


class ResetResult(Frame, frozen=True):
    id: str
    threads: int = 0


ToGuest = Init | Exec | ToolResult | Snapshot | Restore | Interrupt | Reset | Shutdown
FromGuest = Ready | ToolCall | ToolCancel | MessageFrame | ExecResult | SnapshotResult | ResetResult


class Malformed(Struct, frozen=True):
    """A line that is not a valid frame."""

    why: str


_HALF = b"\\ud"

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[FromGuest] = msgspec.json.Decoder(FromGuest)


def encode(frame: ToGuest | FromGuest) -> bytes:
    """Return a frame as a line; lone surrogates, which UTF-8 cannot encode, are replaced."""
    try:
        return _encoder.encode(frame) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(replace_surrogates(frame)) + b"\n"


class FrameDecoder:
    """Assembles lines from the chunks in which they arrive."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        """Limit the length of a line; nothing of a longer one is kept."""
        self.max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[FromGuest | Malformed]:
        """Add bytes and return the frames that they complete."""
        if not self._size and len(data) <= self.max_bytes and data.find(b"\n") == len(data) - 1:
            return [_decode(data)] if data else []  # the common case: exactly one whole line
        *ends, rest = data.split(b"\n")
        found = [self._complete(end) for end in ends]
        self._size += len(rest)
        if self._size > self.max_bytes:
            self._pieces.clear()
        elif rest:
            self._pieces.append(rest)
        return found

    def _complete(self, end: bytes) -> FromGuest | Malformed:
        size = self._size + len(end)
        line = b"".join([*self._pieces, end]) if self._pieces else end
        self._pieces.clear()
        self._size = 0
        if size > self.max_bytes:
            return Malformed(f"a line of {size} bytes")
        return _decode(line)


def _decode(line: bytes) -> FromGuest | Malformed:
    try:
        return _decoder.decode(line)
    except MALFORMED as error:
        return (_decode_halves(line) if _HALF in line.lower() else None) or Malformed(str(error))


def _decode_halves(line: bytes) -> FromGuest | None:
    """Decode a line with lone surrogates as escapes, which most other guests would write."""
    try:
        frame: FromGuest = msgspec.convert(json.loads(line), FromGuest)
    except (ValueError, RecursionError):
        return None
    return replace_surrogates(frame)
