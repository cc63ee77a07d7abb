"""The codec: protocol values as JSON, events as JSON lines chained by their hashes, errors between processes.

```
{"seq":7,"at":1763190000000,"event":{"type":"tool_started",…},"hash":"<sha256 of prev hash + all before>"}
```
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, cast, get_args

import msgspec
from msgspec import Struct

from bridle.core import errors
from bridle.core.errors import BridleError, ProviderError, StoreCorrupt
from bridle.core.protocol import Command, Delta, Event, Record
from bridle.core.protocol.unknown import unknown_event

# ---------------------------------------------------------------------------- error codec
# Errors between processes: convert an error to a value that can be sent, and back.


class ErrorData(Struct, frozen=True, omit_defaults=True):
    """An error as a value that can be sent to another process."""

    kind: str
    message: str
    hint: str = ""
    reason: errors.ProviderErrorKind = "unknown"


def encode_error(error: BaseException) -> ErrorData:
    """Convert an error to a value that can be sent."""
    if not isinstance(error, BridleError):
        return ErrorData("BridleError", f"{type(error).__name__}: {error}")
    reason = error.kind if isinstance(error, ProviderError) else "unknown"
    return ErrorData(type(error).__name__, error.message, error.hint, reason)


def decode_error(failure: ErrorData) -> BridleError:
    """Rebuild the error from a received value; an unknown class becomes BridleError."""
    if failure.kind == "ProviderError":
        return ProviderError(failure.message, kind=failure.reason, hint=failure.hint)
    kind: Any = getattr(errors, failure.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, BridleError)):
        kind = BridleError
    error: BridleError = kind(failure.message, hint=failure.hint)
    return error


# ---------------------------------------------------------------------------- codec


GENESIS = "0" * 64  # the hash before the first event


class _Unsigned(Struct):
    seq: int
    at: int
    event: Event


class _Foreign(Struct):
    seq: int
    at: int
    event: dict[str, Any]
    hash: str


KINDS: frozenset[str] = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Event))
"""The names of all events that this version has."""

_encoder = msgspec.json.Encoder()
_record_decoder = msgspec.json.Decoder(Record)
_foreign_decoder = msgspec.json.Decoder(_Foreign)


def encode(value: Any) -> bytes:
    """Encode a protocol value as one line of JSON, without the newline."""
    return _encoder.encode(value)


def encode_records(
    prev_hash: str, first_seq: int, at: int, events: Iterable[Event], dates: Sequence[int] = ()
) -> list[tuple[Record, bytes]]:
    """Number, date and chain events; return each record with the exact line to store.

    `at` is now. `dates` may give each event an earlier date; without it, all are dated `at`.
    """
    chained = []
    for seq, event in enumerate(events, first_seq):
        when = min(dates[seq - first_seq], at) if dates else at
        body = _encoder.encode(_Unsigned(seq, when, event))[:-1]
        prev_hash = _digest(prev_hash, body)
        chained.append((Record(seq, when, event, prev_hash), b'%b,"hash":"%b"}' % (body, prev_hash.encode())))
    return chained


def decode_record(line: bytes) -> Record:
    """Decode one stored line; raises StoreCorrupt if it is not a record.

    An event of a newer Bridle becomes an `Unknown` event.
    """
    try:
        return _record_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        record = _decode_foreign(line) if isinstance(error, msgspec.ValidationError) else None
        if record is None:
            raise StoreCorrupt(f"stored event is not readable: {error}") from error
        return record


def _decode_foreign(line: bytes) -> Record | None:
    try:
        found = _foreign_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    kind = found.event.pop("type", None)
    event = unknown_event(kind, found.event) if isinstance(kind, str) and kind not in KINDS else None
    return None if event is None else Record(found.seq, found.at, cast(Event, event), found.hash)


def verify_line(prev_hash: str, line: bytes) -> str | None:
    """Return the line's hash if it is the hash of `prev_hash` and the line's bytes, else None."""
    body, separator, rest = line.rpartition(b',"hash":"')
    if (
        not separator
        or rest[64:] != b'"}'
        or rest[:64].decode("ascii", "replace") != _digest(prev_hash, body)
    ):
        return None
    return rest[:64].decode("ascii")


def _digest(prev_hash: str, body: bytes) -> str:
    return hashlib.sha256(prev_hash.encode() + body).hexdigest()


def command_schema() -> dict[str, Any]:
    """Return the JSON Schema of a command."""
    return msgspec.json.schema(Command)


def stream_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of `--output stream-json`: a record or a delta."""
    (record, *deltas), components = msgspec.json.schema_components(
        [Record, *get_args(Delta)],
        ref_template="#/$defs/{name}",
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "anyOf": [record, *deltas],
        "$defs": components,
    }
