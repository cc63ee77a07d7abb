"""What every wire of the scripted server has in common.

A wire is made from the body of one request and offers: `asked`, the request in our words; `begin`, `chunk`,
`end` and `error_event`, which write a stream; `whole` and `error`, which return a JSON answer.
"""

from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.core.model import ModelRequest


class WireRequest(Struct, frozen=True):
    """A request in our words, and how its answer is wanted."""

    request: ModelRequest
    stream: bool


class ErrorAnswer(Struct, frozen=True):
    """An error as a vendor words it."""

    status: int
    body: dict[str, Any]


def decode_args(call_id: str, name: str, text: str) -> ToolCall:
    """Read a call that was sent back, whatever its arguments look like."""
    try:
        return ToolCall(CallId(call_id), name, msgspec.json.decode(text or "{}", type=dict[str, Any]))
    except msgspec.DecodeError:
        return ToolCall(CallId(call_id), name, invalid=text)
