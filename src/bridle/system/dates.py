"""Stored times as a calendar has them: a clock may have jumped anywhere, and what it said then is shown."""

from datetime import UTC, datetime

FIRST_MS, LAST_MS = -62_104_060_800_000, 253_370_764_799_999  # the years 2 to 9998, in every zone


def calendar_s(at_ms: int) -> float:
    """Return the seconds since 1970 of a stored time, or of the nearest that can be written as a date."""
    return min(max(at_ms, FIRST_MS), LAST_MS) / 1000


def rfc3339(at_ms: int) -> str:
    """Write a stored time as RFC 3339 does, in UTC and to the millisecond."""
    written = datetime.fromtimestamp(calendar_s(at_ms), UTC).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")
