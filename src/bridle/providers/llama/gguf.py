"""Reads the header of a GGUF file: its architecture, name and training context length.

```
"GGUF" | version u32 | tensors u64 | pairs u64 | pair: key, type u32, value | …
```

A key or a string is a u64 length and its bytes; everything is little-endian. The keys of the model come
before those of the tokenizer, which are megabytes long and are not read.
"""

import struct
from pathlib import Path
from typing import Any

from msgspec import Struct

from bridle.core.errors import ConfigError

MAGIC = b"GGUF"
MAX_HEADER_BYTES = 1024 * 1024
_MAX_PAIRS = 1000

_NUMBERS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_TEXT, _ARRAY = 8, 9


class GgufHeader(Struct, frozen=True):
    """The facts of a model in its file header; empty or 0 if missing."""

    architecture: str = ""
    name: str = ""
    context_tokens: int = 0


def read_header(path: Path) -> GgufHeader:
    """Return the header of a model file; raises ConfigError if it is missing or no GGUF file."""
    try:
        with path.open("rb") as file:
            start = file.read(MAX_HEADER_BYTES)
    except FileNotFoundError:
        raise ConfigError(
            f"model file {path}: file not found", hint="name a .gguf file, or run: bridle models pull"
        ) from None
    except OSError as error:
        reason = "it is a folder" if isinstance(error, IsADirectoryError) else error.strerror
        raise ConfigError(f"model file {path}: cannot be read: {reason}", hint="name a .gguf file") from error
    if not start.startswith(MAGIC):
        raise ConfigError(
            f"model file {path}: is not a GGUF file, it begins with {start[:4]!r}",
            hint="other formats must be converted to GGUF first",
        )
    pairs = _read_pairs(start)
    architecture = str(pairs.get("general.architecture", ""))
    context = pairs.get(f"{architecture}.context_length", 0)
    return GgufHeader(
        architecture, str(pairs.get("general.name", "")), context if isinstance(context, int) else 0
    )


def _read_pairs(start: bytes) -> dict[str, Any]:
    """Return the pairs before the tokenizer's; a truncated file has fewer, and the server reports that."""
    found: dict[str, Any] = {}
    try:
        version, _, count = struct.unpack_from("<IQQ", start, 4)
        reader = _Reader(start, 24)
        for _ in range(min(count, _MAX_PAIRS) if version >= 2 else 0):
            key = reader.text()
            if key.startswith("tokenizer."):
                break
            found[key] = reader.value(reader.number("<I"))
    except (struct.error, ValueError):
        pass
    return found


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(code, self._data, self._at)
        self._at += struct.calcsize(code)
        return value

    def text(self) -> str:
        size = self.number("<Q")
        if size > len(self._data) - self._at:
            raise ValueError
        self._at += size
        return self._data[self._at - size : self._at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY:
            return self.number(_NUMBERS[kind]) if kind in _NUMBERS else self._unknown()
        inner, count = self.number("<I"), self.number("<Q")
        if count > len(self._data) or inner == _ARRAY:
            raise ValueError
        return [self.value(inner) for _ in range(count)]

    def _unknown(self) -> Any:
        raise ValueError
