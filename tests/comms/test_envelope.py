"""Envelopes, compared with a second implementation of the wire made of cbor2 and cryptography."""

from typing import Any
from uuid import UUID

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from bridle.comms.cbor import encode
from bridle.comms.envelope import (
    MAX_ENVELOPE_BYTES,
    STATUSES,
    Ack,
    BadEnvelope,
    Envelope,
    Kind,
    Message,
    Request,
    Response,
    measure,
    read_id,
    seal,
    unseal,
)
from bridle.comms.identity import Identity

SECRET = bytes(range(32))
US = Identity(SECRET)
THEM = bytes(range(32, 64))
ID = "01890a5d-ac96-774b-bcce-b302099a8057"
OTHER_ID = "550e8400-e29b-41d4-a716-446655440000"

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
IDS = st.uuids().map(str)
KINDS = (
    st.builds(Message, st.text(max_size=50))
    | st.builds(Request, st.text(max_size=20), JSON)
    | st.builds(Response, IDS, st.sampled_from(STATUSES), JSON)
    | st.builds(Ack, IDS)
)


def second_seal(secret: bytes, receiver: bytes, kind: dict[str, Any], number: bytes) -> bytes:
    """Sign as the specification says, without Bridle's code."""
    key = Ed25519PrivateKey.from_private_bytes(secret)
    public = key.public_key().public_bytes_raw()
    signature = key.sign(cbor2.dumps([number, public, receiver, kind], canonical=True))
    envelope = {"id": number, "from": public, "to": receiver, "kind": kind, "sig": signature}
    return cbor2.dumps(envelope)  # in this order, as the first implementation writes it


def second_unseal(data: bytes) -> dict[str, Any]:
    """Open as the specification says; raises when the signature is wrong."""
    envelope: dict[str, Any] = cbor2.loads(data)
    signed = [envelope[key] for key in ("id", "from", "to", "kind")]
    Ed25519PublicKey.from_public_bytes(envelope["from"]).verify(
        envelope["sig"], cbor2.dumps(signed, canonical=True)
    )
    return envelope


def as_fields(kind: Kind) -> dict[str, Any]:
    match kind:
        case Message(body):
            return {"type": "message", "body": body}
        case Request(intent, params):
            return {"type": "request", "intent": intent, "params": params}
        case Response(replied, status, result):
            number = UUID(replied).bytes
            return {"type": "response", "in_reply_to": number, "status": status, "result": result}
        case Ack(replied):
            return {"type": "ack", "in_reply_to": UUID(replied).bytes}


@given(KINDS, IDS)
def test_what_is_sealed_can_be_opened_by_another_implementation(kind: Kind, envelope_id: str):
    envelope = second_unseal(seal(US, THEM, kind, envelope_id))

    assert {**envelope, "sig": None} == {
        "id": UUID(envelope_id).bytes,
        "from": US.public,
        "to": THEM,
        "kind": as_fields(kind),
        "sig": None,
    }


@given(KINDS, IDS)
def test_what_another_implementation_seals_can_be_opened(kind: Kind, envelope_id: str):
    envelope = unseal(second_seal(SECRET, THEM, as_fields(kind), UUID(envelope_id).bytes))

    assert envelope.is_genuine
    assert (envelope.id, envelope.sender, envelope.receiver, envelope.kind) == (
        envelope_id,
        US.public,
        THEM,
        kind,
    )


# Made once, by the second implementation; they must never change.
SIGNATURES: list[tuple[Kind, str]] = [
    (
        Message("hello"),
        (
            "c3dfbfbf6db3ea59121aa5b690c06375ef84b0f48893bad5249512447a327bce"
            "4d6970d80b69ff3ee5d91bb873bf89dcd2c42b2b696e1090b60d0f2abbd03d0e"
        ),
    ),
    (
        Request("review", {"pr": 42, "a": 1.5}),
        (
            "2251bc75d58b5a8890f0523299ff12728c788f4982dd2df961a410645ece86b1"
            "2ab4287edb2148a5aa5488529f6d6858eadf057c55384bcbbebb1c21cd603b08"
        ),
    ),
    (
        Response(OTHER_ID, "completed", None),
        (
            "5c411388316776c88dbdb4a8d5e9157eae15c76e311fff994abe665dbb637c0d"
            "932260d06357c662f521a05191d6d4134b2815568687f5b92e368b12df9e1f00"
        ),
    ),
    (
        Ack(OTHER_ID),
        (
            "9d5aaf50956dfbc0fb5e497298f32006e6926145dd9e9a9bd105f64ea64333d7"
            "6921104a96c91d5d76791ff92c2ce49773f5ae09a0fede8a2089a5353be8d902"
        ),
    ),
]


@pytest.mark.parametrize(("kind", "signature"), SIGNATURES)
def test_signatures_stay_what_they_were(kind: Kind, signature: str):
    assert unseal(seal(US, THEM, kind, ID)).signature.hex() == signature


@given(KINDS, st.data())
def test_no_byte_can_be_changed(kind: Kind, data: st.DataObject):
    sealed = bytearray(seal(US, THEM, kind, ID))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))

    try:
        envelope = unseal(bytes(sealed))
    except BadEnvelope:
        return
    assert not envelope.is_genuine


@given(st.binary(max_size=300))
def test_garbage_is_no_envelope(data: bytes):
    with pytest.raises(BadEnvelope):
        unseal(data)


def test_a_signature_cannot_be_moved_to_another_envelope():
    one, other = unseal(seal(US, THEM, Message("yes"), ID)), unseal(seal(US, THEM, Message("no"), OTHER_ID))
    thief = Identity(bytes(32))

    for changed in (
        Envelope(one.id, one.sender, one.receiver, other.kind, other.fields, one.signature),
        Envelope(other.id, one.sender, one.receiver, one.kind, one.fields, one.signature),
        Envelope(one.id, one.sender, thief.public, one.kind, one.fields, one.signature),
        Envelope(one.id, thief.public, one.receiver, one.kind, one.fields, one.signature),
        Envelope(one.id, one.sender, one.receiver, one.kind, one.fields, other.signature),
    ):
        assert not changed.is_genuine
    assert one.is_genuine


def test_fields_that_are_not_known_here_are_signed_and_left_alone():
    fields = {"type": "message", "body": "hi", "handling_mode": "steer"}

    envelope = unseal(second_seal(SECRET, THEM, fields, bytes(16)))

    assert envelope.kind == Message("hi")
    assert envelope.is_genuine


def good() -> dict[str, Any]:
    fields = {"type": "message", "body": "hi"}
    return {"id": bytes(16), "from": bytes(32), "to": bytes(32), "kind": fields, "sig": bytes(64)}


@pytest.mark.parametrize(
    "changes",
    [
        {"id": bytes(15)},
        {"id": ID},
        {"from": bytes(31)},
        {"from": "x" * 32},
        {"to": bytes(33)},
        {"sig": bytes(63)},
        {"kind": "message"},
        {"kind": {}},
        {"kind": {"type": "message"}},
        {"kind": {"type": "message", "body": b"hi"}},
        {"kind": {"type": "shutdown"}},
        {"kind": {"type": "request", "intent": "x"}},
        {"kind": {"type": "request", "intent": "x", "params": b"bytes"}},
        {"kind": {"type": "request", "intent": "x", "params": {"deep": [b"bytes"]}}},
        {"kind": {"type": "response", "in_reply_to": bytes(16), "status": "maybe", "result": None}},
        {"kind": {"type": "response", "in_reply_to": bytes(16), "status": ["failed"], "result": None}},
        {"kind": {"type": "response", "in_reply_to": ID, "status": "failed", "result": None}},
        {"kind": {"type": "ack", "in_reply_to": bytes(17)}},
        {"more": 1},
    ],
)
def test_what_is_not_as_it_must_be_is_no_envelope(changes: dict[str, Any]):
    assert unseal(encode(good())).kind == Message("hi")

    with pytest.raises(BadEnvelope, match="no envelope"):
        unseal(encode({**good(), **changes}))


@pytest.mark.parametrize("missing", ["id", "from", "to", "kind", "sig"])
def test_every_field_is_needed(missing: str):
    with pytest.raises(BadEnvelope):
        unseal(encode({key: value for key, value in good().items() if key != missing}))


def deep(levels: int) -> Any:
    value: Any = None
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Message("x" * MAX_ENVELOPE_BYTES), "and a message at most"),
        (Message("\ud800"), "surrogates"),
        (Request("x", deep(40)), "nested"),
        (Request("x", deep(100_000)), "recursion"),
        (Request("x", {"n": 2**64}), "64 bits"),
        (Request("x", float("nan")), "no JSON value"),
        (Request("x", b"raw"), "no JSON value"),
        (Response(ID, "failed", {1: 2}), "not a text"),
    ],
)
def test_what_does_not_fit_is_not_sealed(kind: Kind, why: str):
    with pytest.raises(BadEnvelope, match=why):
        seal(US, THEM, kind, ID)
    with pytest.raises(BadEnvelope, match=why):
        measure(kind)


def test_the_largest_message_fits():
    room = MAX_ENVELOPE_BYTES - len(seal(US, THEM, Message(""), ID)) - 4

    assert len(seal(US, THEM, Message("x" * room), ID)) == MAX_ENVELOPE_BYTES


def test_an_id_is_a_uuid_in_one_spelling():
    assert read_id(OTHER_ID.upper()) == OTHER_ID
    for wrong in ("", "7", "x" * 36, "\ud800"):
        with pytest.raises(BadEnvelope, match="is not the id of a request"):
            read_id(wrong)
