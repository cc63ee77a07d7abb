"""Durations as users write them: `30m`, `1h30m`, `500ms`, `2.5s`; a plain number is seconds."""

import re

from bridle.core.errors import ConfigError

UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
MAX_DURATION_S = 10 * 365 * 86_400  # ten years; more is a typo

_NUMBER = r"(?P<whole>[0-9]{1,15})(?:\.(?P<part>[0-9]{1,30}))?"
_PLAIN = re.compile(_NUMBER)
_PIECE = re.compile(rf"{_NUMBER} ?(?P<unit>ms|d|h|m|s) ?")
_HINT = "for example: 30m, 1h30m, 500ms or 2.5s"


class Duration(float):
    """A length of time in seconds, longer than zero, that prints as users write it."""

    def __str__(self) -> str:
        return format_duration(self)


class Delay(Duration):
    """A duration that may be zero."""


def parse_duration(value: str | float) -> float:
    """Return the seconds in a text such as `1h30m`, or in a number; raises ConfigError."""
    # An integer may be too large for a float.
    text = value.strip() if isinstance(value, str) else _positional(min(value, 2.0 * MAX_DURATION_S))
    ms, scale = _sum_pieces(text)
    # One integer division, so that 1h0.1s is exactly the float nearest to 3600.1.
    seconds = ms / (1000 * scale)
    if seconds > MAX_DURATION_S:
        raise ConfigError(f'duration "{value}" is longer than ten years', hint=_HINT)
    return seconds


def format_duration(seconds: float) -> str:
    """Format seconds in the short form; `parse_duration` returns the same number."""
    ms = round(seconds * 1000)
    if ms / 1000 != seconds:
        return f"{_positional(seconds)}s"
    if 1000 <= ms < 60_000 and ms % 1000:
        return f"{_positional(seconds)}s"
    pieces = []
    for unit, unit_ms in UNITS_MS.items():
        count, ms = divmod(ms, unit_ms)
        if count:
            pieces.append(f"{count}{unit}")
    return "".join(pieces) or "0s"


def _sum_pieces(text: str) -> tuple[int, int]:
    """Return the sum of the pieces as an integer, and how many of its units make a millisecond."""
    if match := _PLAIN.fullmatch(text):
        pieces = [(match, "s")]
    else:
        pieces = _split(text)
    scale = 10 ** max(len(match["part"] or "") for match, _ in pieces)
    total = 0
    for match, unit in pieces:
        part = match["part"] or ""
        total += int(match["whole"] + part) * UNITS_MS[unit] * scale // 10 ** len(part)
    return total, scale


def _split(text: str) -> list[tuple[re.Match[str], str]]:
    order = list(UNITS_MS)
    pieces: list[tuple[re.Match[str], str]] = []
    position = 0
    while match := _PIECE.match(text, position):
        # Each unit once, the largest first: 30m1h is more likely a typo.
        if pieces and order.index(match["unit"]) <= order.index(pieces[-1][1]):
            break
        pieces.append((match, match["unit"]))
        position = match.end()
    if not pieces or position != len(text):
        raise ConfigError(f'malformed duration "{text}"', hint=_HINT)
    return pieces


def _positional(seconds: float) -> str:
    """Format a number with as many digits as it needs and no exponent."""
    for digits in range(25):
        text = f"{seconds:.{digits}f}"
        if float(text) == seconds:
            return text
    return f"{seconds:.25f}"
