import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.duration import MAX_DURATION_S, Delay, Duration, format_duration, parse_duration
from bridle.core.errors import ConfigError

HINT = "(hint: for example: 30m, 1h30m, 500ms or 2.5s)"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30m", 1800),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        (" 30 m ", 1800),
        ("500ms", 0.5),
        ("2.5s", 2.5),
        ("1d2h3m4s5ms", 93784.005),
        ("1h0.1s", 3600.1),
        ("0s", 0),
        ("90", 90),
        ("0.25", 0.25),
        (90, 90),
        (1.5, 1.5),
        (0.1, 0.1),
        (1e-7, 1e-7),
    ],
)
def test_a_duration_is_read_as_people_write_it(text: str | float, seconds: float):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "m",
        "30x",
        "30M",
        "-5s",
        "+5s",
        "5s5s",
        "30m1h",
        "1.s",
        ".5s",
        "1e3",
        "1,5s",
        "٣s",
        "inf",
        "nan",
        "1h30",
        "5 parsecs",
        "1h\n30m",
        "9" * 5000,
    ],
)
def test_anything_else_is_refused_by_name(text: str):
    with pytest.raises(ConfigError) as caught:
        parse_duration(text)

    assert str(caught.value) == f'malformed duration "{text}" {HINT}'


@pytest.mark.parametrize("number", [float("inf"), float("nan"), -1, -0.5])
def test_a_number_must_be_a_length_of_time(number: float):
    with pytest.raises(ConfigError):
        parse_duration(number)


@pytest.mark.parametrize("value", ["4000d", "999999999999999", 10**400])
def test_a_duration_has_a_sane_end(value: str | float):
    with pytest.raises(ConfigError) as caught:
        parse_duration(value)

    assert str(caught.value) == f'duration "{value}" is longer than ten years {HINT}'


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.5, "500ms"),
        (2, "2s"),
        (2.5, "2.5s"),
        (60, "1m"),
        (90.5, "1m30s500ms"),
        (5400, "1h30m"),
        (86400, "1d"),
        (1e-7, "0.0000001s"),
    ],
)
def test_a_duration_is_written_the_short_way(seconds: float, text: str):
    assert format_duration(seconds) == text


@given(st.integers(0, MAX_DURATION_S * 1000))
def test_what_is_written_in_milliseconds_is_read_back_exactly(ms: int):
    assert parse_duration(format_duration(ms / 1000)) == ms / 1000


@given(st.floats(1e-6, MAX_DURATION_S))
def test_what_is_written_from_any_number_is_read_back_exactly(seconds: float):
    assert parse_duration(format_duration(seconds)) == seconds
    assert parse_duration(seconds) == seconds


@given(st.text())
def test_no_text_breaks_the_parser(text: str):
    try:
        seconds = parse_duration(text)
    except ConfigError:
        return

    assert 0 <= seconds <= MAX_DURATION_S


def test_a_duration_is_a_number_that_prints_well():
    assert [Duration(5400) / 2, str(Duration(5400)), f"{Delay(0.5)}"] == [2700, "1h30m", "500ms"]
