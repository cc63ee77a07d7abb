"""Stored times as calendar dates; a wrong clock may have stored any number, so times are clamped."""

from datetime import UTC, datetime

FIRST_MS, LAST_MS = -62_104_060_800_000, 253_370_764_799_999  # the years 2 to 9998, in every zone


def calendar_s(at_ms: int) -> float:
    """Return a stored time in seconds since 1970, clamped to what can be written as a date."""
    return min(max(at_ms, FIRST_MS), LAST_MS) / 1000


def rfc3339(at_ms: int) -> str:
    """Format a stored time as RFC 3339, in UTC, with milliseconds."""
    written = datetime.fromtimestamp(calendar_s(at_ms), UTC).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")
