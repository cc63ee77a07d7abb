"""A job and its outcome, encoded as text for the queue."""

import msgspec
from msgspec import Struct

from bridle.core.codec import ErrorData, decode_error, encode_error
from bridle.core.ids import SessionId
from bridle.core.protocol import Command
from bridle.core.session_api import Receipt


class Job(Struct, frozen=True, omit_defaults=True):
    """A job: claim a session, submit a command and drive the session until it rests."""

    session: SessionId
    command: Command
    seq: int = 0
    """The session's last record when the job was ordered: later records may be effects of the job."""
    tries: int = 0
    """How often workers have already tried to resume the run; 0 for a job from outside."""


class JobOutcome(Struct, frozen=True, omit_defaults=True):
    """The outcome of a job's command."""

    receipt: Receipt | None = None
    failure: ErrorData | None = None


_orders = msgspec.json.Decoder(Job)
_taken = msgspec.json.Decoder(JobOutcome)


def encode_job(order: Job) -> str:
    """Encode a job."""
    return msgspec.json.encode(order).decode()


def decode_job(text: str) -> Job:
    """Decode a job; raises msgspec.DecodeError."""
    return _orders.decode(text)


def encode_outcome(outcome: Receipt | BaseException) -> str:
    """Encode the outcome of a command."""
    if isinstance(outcome, BaseException):
        return msgspec.json.encode(JobOutcome(failure=encode_error(outcome))).decode()
    return msgspec.json.encode(JobOutcome(outcome)).decode()


def decode_outcome(text: str) -> Receipt:
    """Return the receipt of a command; raises the error with which it failed."""
    taken = _taken.decode(text)
    if taken.failure is not None:
        raise decode_error(taken.failure)
    assert taken.receipt is not None
    return taken.receipt
