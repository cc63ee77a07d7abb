import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.ids import is_session_id, uuid7

moments = st.integers(0, 2**48 - 1)
entropies = st.binary(min_size=10, max_size=10)


def test_uuid7_lays_out_clock_version_variant_and_entropy():
    assert uuid7(0x0123456789AB, bytes(10)) == "01234567-89ab-7000-8000-000000000000"
    assert uuid7(0, b"\xff" * 16) == "00000000-0000-7fff-bfff-ffffffffffff"


@given(moments, entropies)
def test_uuid7_is_a_uuid_of_version_7_that_keeps_its_time_and_entropy(now_ms: int, entropy: bytes):
    value = uuid.UUID(uuid7(now_ms, entropy))
    without_fixed_bits = int.from_bytes(entropy, "big") & ~(0xF << 76) & ~(0x3 << 62)

    assert (value.version, value.variant, str(value)) == (7, uuid.RFC_4122, uuid7(now_ms, entropy))
    assert value.int >> 80 == now_ms
    assert value.int & ((1 << 80) - 1) == without_fixed_bits | 0x7 << 76 | 0x2 << 62


def test_a_clock_beyond_the_year_10889_wraps_around():
    assert uuid7(2**48 + 5, bytes(10)) == uuid7(5, bytes(10))


@given(moments, moments, entropies, entropies)
def test_uuid7_sorts_by_time_whatever_the_entropy(first_ms: int, second_ms: int, one: bytes, other: bytes):
    earlier, later = sorted((first_ms, second_ms))

    assert earlier == later or uuid7(earlier, one) < uuid7(later, other)


@given(moments, entropies)
def test_a_fresh_id_can_name_a_session(now_ms: int, entropy: bytes):
    assert is_session_id(uuid7(now_ms, entropy))


@pytest.mark.parametrize("text", ["a", "7", "my-session_2.1", "A" * 128])
def test_a_plain_name_can_name_a_session(text: str):
    assert is_session_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        ".hidden",
        "-flag",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "../up",
        "a..b",
        "C:",
        "a b",
        "a\n",
        "a\x00",
        "é",
        "A" * 129,
    ],
)
def test_what_is_not_a_plain_file_name_cannot_name_a_session(text: str):
    assert not is_session_id(text)


@given(st.text(), st.sampled_from("/\\\x00\n:"), st.text())
def test_no_text_with_a_separator_can_name_a_session(before: str, separator: str, after: str):
    assert not is_session_id(before + separator + after)
