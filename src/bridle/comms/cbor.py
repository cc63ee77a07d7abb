"""The subset of CBOR (RFC 8949) that envelopes need, in its canonical form.

```
value   = null | bool | 64-bit integer | finite float | text | bytes | array | map of text to value
written   shortest heads, shortest floats, map keys by length and then by bytes, no tags
read      numbers of any width; nothing indefinite, shared, tagged, duplicated or left over
```

Input comes from anyone who can connect, before a signature can be checked. A general decoder would follow
tags, share values and build as many of them as there are bytes; this one stops early.
"""

import math
import struct
from typing import Any

MAX_DEPTH = 32
MAX_ITEMS = 50_000
_MOST = 2**64 - 1
_LEAST = -(2**63)

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _SIMPLE = 0, 1, 2, 3, 4, 5, 7
_FALSE, _TRUE, _NULL = 20, 21, 22
_FLOATS = {25: ">e", 26: ">f", 27: ">d"}


def encode(value: Any) -> bytes:
    """Encode a value; raises ValueError for one that an envelope cannot hold."""
    out = bytearray()
    _write(value, out, MAX_DEPTH)
    return bytes(out)


def decode(data: bytes) -> Any:
    """Decode exactly one value; raises ValueError."""
    reader = _Reader(data)
    value = reader.read(MAX_DEPTH)
    if reader.at != len(data):
        raise ValueError("bytes are left over")
    return value


# ---------------------------------------------------------------------------- writing


def _write(value: Any, out: bytearray, depth: int) -> None:
    match value:
        case None | True | False:
            out.append(_SIMPLE << 5 | (_NULL if value is None else _TRUE if value else _FALSE))
        case int():
            if not _LEAST <= value <= _MOST:
                raise ValueError("a whole number has more than 64 bits")
            out += _head(_UNSIGNED, value) if value >= 0 else _head(_NEGATIVE, -1 - value)
        case float():
            out += _float(value)
        case str():
            text = value.encode()
            out += _head(_TEXT, len(text)) + text
        case bytes():
            out += _head(_BYTES, len(value)) + value
        case list() | tuple() | dict():
            if depth == 0:
                raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
            _write_many(value, out, depth - 1)
        case _:
            raise ValueError(f"{type(value).__name__} is no JSON value")


def _write_many(value: list[Any] | tuple[Any, ...] | dict[Any, Any], out: bytearray, depth: int) -> None:
    if not isinstance(value, dict):
        out += _head(_ARRAY, len(value))
        for item in value:
            _write(item, out, depth)
        return
    if not all(isinstance(key, str) for key in value):
        raise ValueError("a key is not a text")
    out += _head(_MAP, len(value))
    for key in sorted(value, key=lambda key: (len(key.encode()), key.encode())):
        _write(key, out, depth)
        _write(value[key], out, depth)


def _head(kind: int, number: int) -> bytes:
    if number < 24:
        return bytes((kind << 5 | number,))
    for extra, form in ((24, ">B"), (25, ">H"), (26, ">I")):
        if number < 1 << 8 * struct.calcsize(form):
            return bytes((kind << 5 | extra,)) + struct.pack(form, number)
    return bytes((kind << 5 | 27,)) + struct.pack(">Q", number)


def _float(value: float) -> bytes:
    if not math.isfinite(value):
        raise ValueError(f"{value} is no JSON value")
    for extra, form in _FLOATS.items():
        try:
            packed = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.unpack(form, packed)[0] == value:
            return bytes((_SIMPLE << 5 | extra,)) + packed
    raise AssertionError("eight bytes hold every float")


# ---------------------------------------------------------------------------- reading


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.at = 0
        self._data = data
        self._items = 0

    def read(self, depth: int) -> Any:
        self._items += 1
        if self._items > MAX_ITEMS:
            raise ValueError(f"it has more than {MAX_ITEMS} values")
        first = self._take(1)[0]
        kind, extra = first >> 5, first & 31
        if kind == _SIMPLE:
            return self._simple(extra)
        number = self._number(extra)
        match kind:
            case 0:
                return number
            case 1 if -1 - number >= _LEAST:
                return -1 - number
            case 2:
                return self._take(number)
            case 3:
                return self._take(number).decode()
            case 4 | 5 if depth:
                return self._array(number, depth - 1) if kind == _ARRAY else self._map(number, depth - 1)
            case _:
                raise ValueError("a tag, too large a number, or nested too deep")

    def _array(self, size: int, depth: int) -> list[Any]:
        return [self.read(depth) for _ in range(size)]

    def _map(self, size: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in range(size):
            key = self.read(0)
            if not isinstance(key, str) or key in found:
                raise ValueError("a key is doubled, or no text")
            found[key] = self.read(depth)
        return found

    def _simple(self, extra: int) -> Any:
        if extra in _FLOATS:
            form = _FLOATS[extra]
            value = struct.unpack(form, self._take(struct.calcsize(form)))[0]
            if not math.isfinite(value):
                raise ValueError("a number is not finite")
            return value
        if extra not in (_FALSE, _TRUE, _NULL):
            raise ValueError("a simple value that JSON does not have")
        return None if extra == _NULL else extra == _TRUE

    def _number(self, extra: int) -> int:
        if extra < 24:
            return extra
        if extra > 27:
            raise ValueError("a length that is not given")
        return int.from_bytes(self._take(1 << extra - 24), "big")

    def _take(self, size: int) -> bytes:
        if size > len(self._data) - self.at:
            raise ValueError("it ends too early")
        self.at += size
        return self._data[self.at - size : self.at]
