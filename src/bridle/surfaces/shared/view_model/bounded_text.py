"""Texts with a length limit: beyond it the middle is replaced by a note of how much is missing."""

from typing import Any

from msgspec.json import encode

TEXT_CHARS = 512 * 1024  # of a live answer; no vendor lets a model write more at once
OUTPUT_CHARS = 64 * 1024  # of a call's output
WRITTEN_CHARS = 16 * 1024  # of arguments while they are written
ARG_CHARS = 16 * 1024  # of one argument
LINE_CHARS = 400  # of a single line


class BoundedText:
    """A text that grows piece by piece."""

    def __init__(self, most: int, text: str = "") -> None:
        self._most = most
        self._head = ""
        self._left_out = 0
        self._pieces = [text]
        self._chars = len(text)

    @property
    def text(self) -> str:
        """The text so far."""
        rest = "".join(self._pieces)
        if len(self._pieces) > 1:
            self._pieces = [rest]
        return f"{self._head}{_gap(self._left_out)}{rest}" if self._left_out else rest

    def add(self, piece: str) -> bool:
        """Add a piece; return False if earlier text was cut to fit."""
        self._pieces.append(piece)
        self._chars += len(piece)
        if self._chars <= self._most:
            return True
        rest = "".join(self._pieces)
        if not self._left_out:
            self._head = rest[: self._most // 4]
            rest = rest[self._most // 4 :]
        tail = rest[-(self._most // 4) :]
        self._left_out += len(rest) - len(tail)
        self._pieces, self._chars = [tail], len(self._head) + len(tail)
        return False


def shorten(text: str, most: int = OUTPUT_CHARS) -> str:
    """Return a text without its middle if it is longer than `most`."""
    if len(text) <= most:
        return text
    part = most // 2
    return f"{text[:part]}{_gap(len(text) - 2 * part)}{text[-part:]}"


def shorten_args(args: dict[str, Any]) -> dict[str, Any]:
    """Shorten long values in the arguments of a call; a long list or dict becomes JSON text."""
    return {shorten(name, LINE_CHARS): _shortened_value(value) for name, value in args.items()}


def _shortened_value(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(value, ARG_CHARS)
    if isinstance(value, list | dict) and len(encoded := encode(value)) > ARG_CHARS:
        return shorten(encoded.decode(), ARG_CHARS)
    return value


def _gap(chars: int) -> str:
    return f"\n[{chars:,} characters not shown]\n"
