"""The envelope on the wire: a message, its signer and its receiver.

```
envelope   {"id", "from", "to", "kind", "sig"}                          a CBOR map
kind       {"type": "message",  "body"}
           {"type": "request",  "intent", "params"}
           {"type": "response", "in_reply_to", "status", "result"}
           {"type": "ack",      "in_reply_to"}
sig        Ed25519 of the canonical CBOR of [id, from, to, kind]
```

Ids are the 16 bytes of a UUID, keys 32 bytes, signatures 64. Unknown fields of a kind are signed like the
others, and otherwise ignored.
"""

from typing import Any, Literal, get_args
from uuid import UUID

from msgspec import Struct

from bridle.comms import cbor
from bridle.comms.identity import KEY_BYTES, SIGNATURE_BYTES, Identity, is_signed
from bridle.core.errors import BridleError

MAX_ENVELOPE_BYTES = 1024 * 1024
MAX_INTENT_CHARS = 1000

Status = Literal["accepted", "completed", "failed"]
STATUSES: tuple[Status, ...] = get_args(Status)


class BadEnvelope(BridleError):
    """The bytes are not an envelope, or what was to be sent does not fit into one."""


class Message(Struct, frozen=True, tag="message"):
    """A text message."""

    body: str


class Request(Struct, frozen=True, tag="request"):
    """A request, which is answered by a response."""

    intent: str
    params: Any = None


class Response(Struct, frozen=True, tag="response"):
    """The response to a request."""

    in_reply_to: str
    status: Status
    result: Any = None


class Ack(Struct, frozen=True, tag="ack"):
    """Acknowledges the arrival of a message or request."""

    in_reply_to: str


Kind = Message | Request | Response | Ack


class Envelope(Struct, frozen=True):
    """A signed message, request, response or acknowledgement."""

    id: str
    """A UUID."""
    sender: bytes
    """The public key that signed it."""
    receiver: bytes
    kind: Kind
    fields: dict[str, Any]
    """The kind's signed fields, including any unknown ones."""
    signature: bytes

    @property
    def is_genuine(self) -> bool:
        """True if its sender signed it and nothing in it has changed since."""
        return is_signed(self.sender, _signed(self), self.signature)


def seal(identity: Identity, receiver: bytes, kind: Kind, envelope_id: str) -> bytes:
    """Sign a kind for a receiver and return the envelope's bytes; raises BadEnvelope if it does not fit."""
    try:
        fields = _fields(kind)
        signature = identity.sign(cbor.encode([_id_bytes(envelope_id), identity.public, receiver, fields]))
        data = cbor.encode(
            {
                "id": _id_bytes(envelope_id),
                "from": identity.public,
                "to": receiver,
                "kind": fields,
                "sig": signature,
            }
        )
    except (ValueError, RecursionError) as error:  # a lone surrogate raises ValueError, too
        raise BadEnvelope(f"it cannot be sent: {error}") from error
    _small_enough(len(data))
    return data


def unseal(data: bytes) -> Envelope:
    """Decode an envelope without checking its signature; raises BadEnvelope."""
    try:
        read = cbor.decode(data)
        match read:
            case {
                "id": bytes() as number,
                "from": bytes() as sender,
                "to": bytes() as receiver,
                "kind": dict() as fields,
                "sig": bytes() as signature,
            } if len(read) == 5:
                sizes = (len(sender), len(receiver), len(signature))
                if sizes != (KEY_BYTES, KEY_BYTES, SIGNATURE_BYTES):
                    raise ValueError("a key or signature of the wrong size")
                return Envelope(_id_text(number), sender, receiver, _kind(fields), fields, signature)
            case _:
                raise ValueError("not the fields of an envelope")
    except ValueError as error:
        raise BadEnvelope(f"no envelope: {error}") from error


def measure(kind: Kind) -> int:
    """Return the encoded size of a kind; raises BadEnvelope if it fits into no envelope."""
    try:
        size = len(cbor.encode(_fields(kind)))
    except (ValueError, RecursionError) as error:
        raise BadEnvelope(f"it cannot be sent: {error}") from error
    return _small_enough(size)


def read_id(text: str) -> str:
    """Return an id in its standard form; raises BadEnvelope."""
    try:
        return str(UUID(text))
    except ValueError as error:
        raise BadEnvelope(f"{text[:60]!a} is not the id of a request") from error


def _small_enough(size: int) -> int:
    if size > MAX_ENVELOPE_BYTES:
        raise BadEnvelope(
            f"it has {size} bytes, and a message at most {MAX_ENVELOPE_BYTES}",
            hint="send less, or put it into a file and send its path",
        )
    return size


def _signed(envelope: Envelope) -> bytes:
    return cbor.encode([_id_bytes(envelope.id), envelope.sender, envelope.receiver, envelope.fields])


def _fields(kind: Kind) -> dict[str, Any]:
    match kind:
        case Message():
            return {"type": "message", "body": kind.body}
        case Request():
            return {"type": "request", "intent": kind.intent, "params": _json(kind.params)}
        case Response():
            return {
                "type": "response",
                "in_reply_to": _id_bytes(kind.in_reply_to),
                "status": kind.status,
                "result": _json(kind.result),
            }
        case Ack():
            return {"type": "ack", "in_reply_to": _id_bytes(kind.in_reply_to)}


def _kind(fields: dict[str, Any]) -> Kind:
    match fields:
        case {"type": "message", "body": str() as body}:
            return Message(body)
        case {"type": "request", "intent": str() as intent, "params": params}:
            return Request(intent, _json(params))
        case {"type": "response", "in_reply_to": bytes() as number, "status": status, "result": result}:
            if status not in STATUSES:
                raise ValueError("a status that is not known")
            return Response(_id_text(number), status, _json(result))
        case {"type": "ack", "in_reply_to": bytes() as number}:
            return Ack(_id_text(number))
        case _:
            raise ValueError("a kind that is not known")


def _json(value: Any) -> Any:
    """Return the value if it contains no bytes, which JSON cannot hold; raises ValueError."""
    match value:
        case bytes():
            raise ValueError("bytes are no JSON value")
        case list() | tuple():
            for item in value:
                _json(item)
        case dict():
            for item in value.values():
                _json(item)
        case _:
            pass
    return value


def _id_bytes(text: str) -> bytes:
    return UUID(text).bytes


def _id_text(number: bytes) -> str:
    return str(UUID(bytes=number))
