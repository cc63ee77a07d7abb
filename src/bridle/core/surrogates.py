"""Lone surrogates: half characters that a Python string can contain but UTF-8 JSON cannot."""

import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)

_HALF = re.compile("[\ud800-\udfff]")
_encoder = msgspec.json.Encoder()


def has_surrogates(value: msgspec.Struct) -> bool:
    """Return True if a value cannot be stored because a text in it has lone surrogates."""
    try:
        _encoder.encode(value)
    except UnicodeEncodeError:
        return True
    return False


def replace_surrogates(value: T) -> T:
    """Replace each lone surrogate with U+FFFD; return the same object if there is none."""
    if not has_surrogates(value):
        return value
    return msgspec.convert(_mended(msgspec.to_builtins(value)), type(value))


def _mended(value: Any) -> Any:
    match value:
        case str():
            return _HALF.sub("\ufffd", value)
        case dict():
            return {_mended(key): _mended(item) for key, item in value.items()}
        case list() | tuple():
            return [_mended(item) for item in value]
        case _:
            return value
