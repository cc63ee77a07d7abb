"""Changes to an input: small ones to its bytes, to its words, and to the values of its JSON."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.fuzz.target import MAX_INPUT_BYTES, Target

ODD_BYTES = (
    b"\x00",
    b"\xff",
    b"\x80",
    b"\xc3",
    b"\xed\xa0\x80",  # half a character
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xae",
    b"\xf0\x9f\x98\x80",
    b"\x1b[2J",
    b"\r",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\\",
    b'"',
    b"'",
    b"`",
    b"$",
    b"..",
    b"/",
    b"%",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"<",
    b">",
    b"&",
    b"*",
    b"#",
    b":",
    b"=",
    b"-",
    b"0",
    b"-1",
    b"4294967296",
    b"9223372036854775808",
    b"1e999",
    b"NaN",
)
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    0.5,
    1e308,
    "",
    "\x00",
    "a" * 300,
    "../../etc/passwd",
    "\u202e",
    "\ud800",
    [],
    {},
    [[]],
    {"": ""},
    [1, "a", None],
)
MOST_CHANGES = 5
REPEATS = (2, 3, 10, 100, 1_000, 10_000)


class Mutator:
    """Makes new inputs of known ones; the same seed makes the same ones."""

    def __init__(self, target: Target, seed: int) -> None:
        self.random = random.Random(f"{target.name}:{seed}")
        self._target = target
        self._tokens = (*target.tokens, *ODD_BYTES)
        self._of_bytes: tuple[Callable[[bytes], bytes], ...] = (
            self._flip,
            self._insert,
            self._insert,
            self._overwrite,
            self._delete,
            self._double,
            self._repeat,
            self._swap,
            self._cut,
        )

    def mutated(self, known: Sequence[bytes]) -> bytes:
        """Return something like one of the known inputs."""
        data = self.random.choice(known) if known else b""
        for _ in range(self.random.randint(1, MOST_CHANGES)):
            if self._target.is_json and self.random.random() < 0.4:
                data = self._in_json(data)
            elif len(known) > 1 and self.random.random() < 0.1:
                data = self._splice(data, self.random.choice(known))
            else:
                data = self.random.choice(self._of_bytes)(data)
        return data[:MAX_INPUT_BYTES]

    # ------------------------------------------------------------------ bytes

    def _spot(self, data: bytes) -> int:
        return self.random.randint(0, len(data))

    def _range(self, data: bytes) -> tuple[int, int]:
        start = self._spot(data)
        return start, min(len(data), start + self.random.choice((1, 2, 4, 8, 16, 64, 256)))

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return data
        at = self.random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << self.random.randrange(8)]) + data[at + 1 :]

    def _insert(self, data: bytes) -> bytes:
        at = self._spot(data)
        return data[:at] + self.random.choice(self._tokens) + data[at:]

    def _overwrite(self, data: bytes) -> bytes:
        start, end = self._range(data)
        return data[:start] + self.random.choice(self._tokens) + data[end:]

    def _delete(self, data: bytes) -> bytes:
        start, end = self._range(data)
        return data[:start] + data[end:]

    def _double(self, data: bytes) -> bytes:
        start, end = self._range(data)
        at = self._spot(data)
        return data[:at] + data[start:end] + data[at:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._range(data)
        piece = self.random.choice((data[start:end], self.random.choice(self._tokens)))
        at = self._spot(data)
        room = max(0, MAX_INPUT_BYTES - len(data)) // max(1, len(piece))
        return data[:at] + piece * min(room, self.random.choice(REPEATS)) + data[at:]

    def _swap(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        first, second = self.random.randrange(len(lines)), self.random.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
        return b"\n".join(lines)

    def _cut(self, data: bytes) -> bytes:
        return data[: self._spot(data)]

    def _splice(self, data: bytes, other: bytes) -> bytes:
        return data[: self._spot(data)] + other[self._spot(other) :]

    # ------------------------------------------------------------------ values

    def _in_json(self, data: bytes) -> bytes:
        """Change one value in one of the lines that are JSON."""
        lines = data.split(b"\n")
        at = self.random.randrange(len(lines))
        try:
            value = json.loads(lines[at])
        except (ValueError, RecursionError):
            return self._insert(data)
        lines[at] = json.dumps(self._changed(value), ensure_ascii=self.random.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
        return b"\n".join(lines)

    def _changed(self, value: Any) -> Any:
        if not isinstance(value, dict | list) or not value or self.random.random() < 0.2:
            return self._replaced(value)
        if isinstance(value, list):
            return self._changed_list(list(value))
        key = self.random.choice(list(value))
        match self.random.randrange(5):
            case 0:
                return {name: item for name, item in value.items() if name != key}
            case 1:
                return {**value, self.random.choice(list(value)): value[key]}
            case _:
                return {**value, key: self._changed(value[key])}

    def _changed_list(self, items: list[Any]) -> list[Any]:
        at = self.random.randrange(len(items))
        match self.random.randrange(5):
            case 0:
                del items[at]
            case 1:
                items.insert(at, items[at])
            case _:
                items[at] = self._changed(items[at])
        return items

    def _replaced(self, value: Any) -> Any:
        match self.random.randrange(4):
            case 0:
                return [value]
            case 1 if isinstance(value, str):
                token = self.random.choice(self._tokens).decode("utf-8", "replace")
                at = self.random.randint(0, len(value))
                return value[:at] + token + value[at:]
            case 2 if isinstance(value, int) and not isinstance(value, bool):
                return value + self.random.choice((-1, 1, 2**31, -(2**63)))
            case _:
                return self.random.choice(ODD_VALUES)
