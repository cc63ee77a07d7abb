"""Types that all vendor formats of the scripted server share.

A format class takes the body of one request and offers: `asked`, the decoded request; `begin`, `chunk`, `end`
and `error_event`, which encode a stream; `whole` and `error`, which return a JSON response.
"""

from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.core.model import ModelRequest


class WireRequest(Struct, frozen=True):
    """A decoded request, and whether its reply is streamed."""

    request: ModelRequest
    stream: bool


class ErrorResponse(Struct, frozen=True):
    """An error response in a vendor's format."""

    status: int
    body: dict[str, Any]


def decode_args(call_id: str, name: str, text: str) -> ToolCall:
    """Return a call with its arguments decoded, or with `invalid` set if they are not a JSON object."""
    try:
        return ToolCall(CallId(call_id), name, msgspec.json.decode(text or "{}", type=dict[str, Any]))
    except msgspec.DecodeError:
        return ToolCall(CallId(call_id), name, invalid=text)
