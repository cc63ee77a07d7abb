from datetime import UTC, datetime, timedelta, timezone

import pytest

from bridle.surfaces.shared.transcript import local_time
from bridle.system.dates import FIRST_MS, LAST_MS, calendar_s, rfc3339

ZONES = [timezone(timedelta(hours=hours)) for hours in (-14, 0, 14)]


@pytest.mark.parametrize(
    ("at_ms", "seconds"),
    [(0, 0.0), (1_763_190_000_123, 1_763_190_000.123), (-5, -0.005), (10**15, LAST_MS / 1000)],
)
def test_a_time_stays_what_it_is_where_a_calendar_has_it(at_ms: int, seconds: float):
    assert calendar_s(at_ms) == seconds


@pytest.mark.parametrize("at_ms", [10**15, 10**30, -(10**15), -(10**30), FIRST_MS, LAST_MS])
def test_every_time_can_be_written_in_every_zone(at_ms: int):
    written = [datetime.fromtimestamp(calendar_s(at_ms), UTC).astimezone(zone).year for zone in ZONES]

    assert set(written) <= {1, 2, 9998, 9999}
    assert local_time(at_ms)[-6] == " "


@pytest.mark.parametrize(
    ("at_ms", "written"),
    [(0, "1970-01-01T00:00:00.000Z"), (1_763_190_000_123, "2025-11-15T07:00:00.123Z")],
)
def test_a_date_is_written_in_utc_and_to_the_millisecond(at_ms: int, written: str):
    assert rfc3339(at_ms) == written
