"""Formats received messages as text for a model.

A peer could write a fake header of another peer into its text, so such a line is marked as quoted.
"""

import re
from typing import Any

import msgspec

from bridle.comms.envelope import Ack, Kind, Message, Request, Response

MAX_TEXT_CHARS = 64 * 1024

# Every character that some reader takes for a line end, and white space before the header.
_HEADER = re.compile(r"(^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])(?=\s*\[COMMS)")


def format_for_model(kind: Kind, peer: str, envelope_id: str) -> str:
    """Return a message, request or response as prompt text; empty for an acknowledgement."""
    match kind:
        case Message():
            return f"[COMMS MESSAGE from {peer}]\n{_quoted(_cut(kind.body))}"
        case Request():
            return (
                f"[COMMS REQUEST from {peer} (id: {envelope_id})]\n"
                f"Intent: {' '.join(_cut(kind.intent).split())}{_value('Params', kind.params)}\n\n"
                f'To respond, use peer_respond with to="{peer}", in_reply_to="{envelope_id}"'
            )
        case Response():
            return (
                f"[COMMS RESPONSE from {peer} (to request: {kind.in_reply_to})]\n"
                f"Status: {kind.status}{_value('Result', kind.result)}"
            )
        case Ack():
            return ""


def _value(label: str, value: Any) -> str:
    if value is None or value == {}:
        return ""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return f"\n{label}: {_cut(text)}"


def _quoted(text: str) -> str:
    return _HEADER.sub(r"\1> ", text)


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]}\n[{len(text) - MAX_TEXT_CHARS} more characters are left out]"
