"""What a leg is to do, and what came of it: text that travels through the engine."""

import msgspec
from msgspec import Struct

from bridle.core.failures import Failure, as_error, as_failure
from bridle.core.ids import SessionId
from bridle.core.protocol import Command
from bridle.core.session_api import Receipt

MAX_ORDER_BYTES = 48 * 1024 * 1024  # a prompt with pictures is the longest thing there is


class Order(Struct, frozen=True, omit_defaults=True):
    """Take a session, hand it a command, and drive it until it rests."""

    session: SessionId
    command: Command
    seq: int = 0
    """Where the session ended when this was ordered: what was recorded since may be what was ordered."""
    tries: int = 0
    """How often workers have already tried to go on with the run; 0 for an order of somebody outside."""


class Taken(Struct, frozen=True, omit_defaults=True):
    """What became of the command of a leg."""

    receipt: Receipt | None = None
    failure: Failure | None = None


_orders = msgspec.json.Decoder(Order)
_taken = msgspec.json.Decoder(Taken)


def order_text(order: Order) -> str:
    """Write an order down."""
    return msgspec.json.encode(order).decode()


def read_order(text: str) -> Order:
    """Read an order; raises msgspec.DecodeError."""
    return _orders.decode(text)


def taken_text(outcome: Receipt | BaseException) -> str:
    """Write down what became of a command."""
    if isinstance(outcome, BaseException):
        return msgspec.json.encode(Taken(failure=as_failure(outcome))).decode()
    return msgspec.json.encode(Taken(outcome)).decode()


def read_taken(text: str) -> Receipt:
    """Return the receipt of a command; raises the error that it met."""
    taken = _taken.decode(text)
    if taken.failure is not None:
        raise as_error(taken.failure)
    assert taken.receipt is not None
    return taken.receipt
