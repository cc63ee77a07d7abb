"""Reads the weights of the base model from a GGUF file; needs numpy and nothing else.

```
"GGUF" | version u32 | tensors u64 | pairs u64 | pair: key, type u32, value | …
tensor: name, dimensions u32, sizes u64…, type u32, offset u64 | … | padding | data
```

A key, a name or a string is a u64 length and its bytes; everything is little-endian. The file may be cut into
parts, `weights.0`, `weights.1` and so on, which are joined here.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PART = "weights.{}"
BLOCK = 32  # a quantised tensor is stored in blocks of 32 numbers

_ALIGNMENT = 32
_TEXT, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

Array = NDArray[np.float32]


class WeightsError(Exception):
    """The file is not a GGUF file that can be read here."""


@dataclass(frozen=True)
class Gguf:
    """The metadata of a model and its tensors in single precision."""

    metadata: dict[str, Any]
    tensors: dict[str, Array]


def join_parts(folder: Path) -> bytes:
    """Return the content of the weights file that was cut into parts in a folder."""
    parts: list[bytes] = []
    while (part := folder / PART.format(len(parts))).exists():
        parts.append(part.read_bytes())
    if not parts:
        raise WeightsError(f"{folder}: holds no file {PART.format(0)} (hint: run training.prepare)")
    return b"".join(parts)


def read_gguf(data: bytes) -> Gguf:
    """Return the metadata and the dequantised tensors of a file; raises WeightsError if it is damaged."""
    if data[:4] != b"GGUF":
        raise WeightsError("not a GGUF file")
    reader = _Reader(data, 4)
    try:
        _version, tensors, pairs = reader.number("I"), reader.number("Q"), reader.number("Q")
        metadata = {reader.text(): reader.value(reader.number("I")) for _ in range(pairs)}
        entries = [_read_entry(reader) for _ in range(tensors)]
    except (struct.error, KeyError) as error:
        raise WeightsError(f"the header is damaged or incomplete ({error})") from error
    alignment = metadata.get("general.alignment", _ALIGNMENT)
    start = -(-reader.at // alignment) * alignment
    return Gguf(metadata, {entry.name: _read_tensor(data, start, entry) for entry in entries})


def dequantise_q4_1(raw: NDArray[np.uint8]) -> Array:
    """Return the numbers of Q4_1 blocks: f16 scale, f16 minimum, then 16 bytes of two 4-bit numbers each.

    The low halves of the bytes are the first 16 numbers of a block, and the high halves are the other 16.
    """
    blocks = raw.reshape(-1, 4 + BLOCK // 2)
    head = blocks[:, :4].copy().view(np.float16).astype(np.float32)
    packed = blocks[:, 4:]
    numbers = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)
    return (numbers * head[:, :1] + head[:, 1:]).reshape(-1)


def dequantise_q8_0(raw: NDArray[np.uint8]) -> Array:
    """Return the numbers of Q8_0 blocks: f16 scale, then 32 signed bytes."""
    blocks = raw.reshape(-1, 2 + BLOCK)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    return (blocks[:, 2:].view(np.int8).astype(np.float32) * scale).reshape(-1)


def read_f32(raw: NDArray[np.uint8]) -> Array:
    """Return the numbers of an unquantised tensor."""
    return raw.copy().view(np.float32)


@dataclass(frozen=True)
class _Entry:
    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int


# The types in this file: how many numbers a block has, how many bytes, and how it is read.
_KINDS: dict[int, tuple[int, int, Callable[[NDArray[np.uint8]], Array]]] = {
    0: (1, 4, read_f32),
    3: (BLOCK, 4 + BLOCK // 2, dequantise_q4_1),
    8: (BLOCK, 2 + BLOCK, dequantise_q8_0),
}


def _read_entry(reader: "_Reader") -> _Entry:
    name = reader.text()
    sizes = [reader.number("Q") for _ in range(reader.number("I"))]
    return _Entry(name, tuple(reversed(sizes)), reader.number("I"), reader.number("Q"))


def _read_tensor(data: bytes, start: int, entry: _Entry) -> Array:
    if entry.kind not in _KINDS:
        raise WeightsError(f"{entry.name}: tensors of type {entry.kind} cannot be read")
    numbers, size, dequantise = _KINDS[entry.kind]
    begin = start + entry.offset
    end = begin + int(np.prod(entry.shape)) // numbers * size
    if end > len(data):
        raise WeightsError(f"{entry.name}: the file ends before it (hint: a part may be missing)")
    raw = np.frombuffer(data, np.uint8, end - begin, begin)
    return dequantise(raw).reshape(entry.shape)


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self._data, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def text(self) -> str:
        size = self.number("Q")
        self.at += size
        return self._data[self.at - size : self.at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY:
            return self.number(_NUMBERS[kind])
        inner, count = self.number("I"), self.number("Q")
        return [self.value(inner) for _ in range(count)]
