"""Text that grows, and long text: beyond a bound the middle is left out, and how much is said."""

from typing import Any

from msgspec.json import encode

TEXT_CHARS = 512 * 1024  # of what the model says while it says it; no vendor lets it say more at once
OUTPUT_CHARS = 64 * 1024  # of what a call gives back
WRITTEN_CHARS = 16 * 1024  # of the arguments while they are written
ARG_CHARS = 16 * 1024  # of one argument
LINE_CHARS = 400  # of what stands on one line


class Growing:
    """A text that pieces are added to."""

    def __init__(self, most: int, text: str = "") -> None:
        self._most = most
        self._head = ""
        self._left_out = 0
        self._pieces = [text]
        self._chars = len(text)

    @property
    def text(self) -> str:
        """Return the text so far."""
        rest = "".join(self._pieces)
        if len(self._pieces) > 1:
            self._pieces = [rest]
        return f"{self._head}{_gap(self._left_out)}{rest}" if self._left_out else rest

    def add(self, piece: str) -> bool:
        """Add a piece; returns whether all that was there is still there before it."""
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


def shortened(text: str, most: int = OUTPUT_CHARS) -> str:
    """Leave the middle of a long text out."""
    if len(text) <= most:
        return text
    part = most // 2
    return f"{text[:part]}{_gap(len(text) - 2 * part)}{text[-part:]}"


def shortened_args(args: dict[str, Any]) -> dict[str, Any]:
    """Shorten what is long in the arguments of a call; a value that is no text becomes one then."""
    return {shortened(name, LINE_CHARS): _shortened_value(value) for name, value in args.items()}


def _shortened_value(value: Any) -> Any:
    if isinstance(value, str):
        return shortened(value, ARG_CHARS)
    if isinstance(value, list | dict) and len(encoded := encode(value)) > ARG_CHARS:
        return shortened(encoded.decode(), ARG_CHARS)
    return value


def _gap(chars: int) -> str:
    return f"\n[{chars:,} characters not shown]\n"
