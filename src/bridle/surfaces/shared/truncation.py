"""Shortens a message to a size limit: long texts and lists in it are cut."""

from collections.abc import Callable
from typing import Any

import msgspec

from bridle.core.errors import BridleError

CAPS = (16_384, 4_096, 1_024, 256, 64)  # characters of one text, and items of one list


def encode_truncated(value: Any, write: Callable[[Any], bytes], most_bytes: int) -> bytes | None:
    """Encode a value with its long texts and lists cut as needed; None if it is still too long."""
    data = msgspec.to_builtins(value)
    for cap in CAPS:
        line = write(_cut(data, cap))
        if len(line) <= most_bytes:
            return line
    return None


def truncate_to(value: Any, most_bytes: int) -> Any:
    """Return a value as plain data, cut as needed; raises BridleError if it is still too long."""
    line: bytes | None = msgspec.json.encode(value)
    if line is not None and len(line) > most_bytes:
        line = encode_truncated(value, msgspec.json.encode, most_bytes)
    if line is None:
        raise BridleError(f"the answer is longer than {most_bytes} bytes")
    return msgspec.json.decode(line)


def _cut(value: Any, cap: int) -> Any:
    if isinstance(value, str):
        left_out = len(value) - cap
        return value if left_out <= 0 else f"{value[:cap]}… [{left_out} characters left out]"
    if isinstance(value, list | tuple):
        return [_cut(item, cap) for item in value[:cap]]
    if isinstance(value, dict):
        return {key[:cap]: _cut(item, cap) for key, item in list(value.items())[:cap]}
    return value


def split_in_half(text: str) -> tuple[str, str]:
    """Split a text into two halves."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
