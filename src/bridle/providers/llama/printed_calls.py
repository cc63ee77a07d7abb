"""Detects tool calls that a model prints as text, such as `{"name": "list_files", "arguments": {…}}`.

Only a reply that is such an object from its first to its last character, and that names a tool of the
request, counts as a call. Anything else is a normal text reply.
"""

import re
from collections.abc import Container
from typing import Any, Literal

import msgspec
from msgspec import Struct

from bridle.core.malformed import MALFORMED

_NAMES = ("name", "tool", "function")
_ARGS = ("arguments", "parameters", "args")
_KEYS = frozenset({*_NAMES, *_ARGS, "type", "id"})
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_FIRST_KEY = re.compile(r'\{\s*(?:"(?P<key>\w*)(?P<end>")?)?')
_decoder = msgspec.json.Decoder(dict[str, Any])

Verdict = Literal["call", "prose", "unclear"]


class PrintedCall(Struct, frozen=True):
    """A call printed as text: its tool, and its arguments as JSON."""

    name: str
    args: str


def classify_start(text: str) -> Verdict:
    """Return whether a reply that starts like this is a printed call, normal text, or still unclear."""
    text = text.lstrip()
    if text.startswith(_OPEN):
        text = text.removeprefix(_OPEN).lstrip()
    elif _OPEN.startswith(text):
        return "unclear"
    if not text:
        return "unclear"
    match = _FIRST_KEY.match(text)
    if match is None:
        return "prose"
    if match["end"]:
        return "call" if match["key"] in _KEYS else "prose"
    if match.end() < len(text):
        return "prose"  # what follows is not a key
    return "unclear" if not match["key"] or any(k.startswith(match["key"]) for k in _KEYS) else "prose"


def parse_printed_call(text: str, tools: Container[str]) -> PrintedCall | None:
    """Return the call in a whole reply; None if it is anything else."""
    text = text.strip()
    if text.startswith(_OPEN):
        text = text.removeprefix(_OPEN).removesuffix(_CLOSE).strip()
    try:
        found = _decoder.decode(text)
    except MALFORMED:
        return None
    if isinstance(inner := found.get("function"), dict) and found.keys() <= {"function", "type", "id"}:
        found = inner
    if not found.keys() <= _KEYS:
        return None
    names = [found[key] for key in _NAMES if key in found]
    args = [found[key] for key in _ARGS if key in found]
    if len(names) != 1 or len(args) != 1 or not isinstance(names[0], str) or names[0] not in tools:
        return None
    wanted = _object(args[0])
    return None if wanted is None else PrintedCall(names[0], msgspec.json.encode(wanted).decode())


def _object(value: Any) -> dict[str, Any] | None:
    """Return arguments as an object; in OpenAI's format they are JSON text. None if invalid."""
    if isinstance(value, str):
        try:
            return _decoder.decode(value)
        except MALFORMED:
            return None
    return value if isinstance(value, dict) else None
