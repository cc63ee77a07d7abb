"""Bridle's CBOR, compared with cbor2, with the standard's examples, and with hostile bytes."""

import math
from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.comms.cbor import MAX_DEPTH, MAX_ITEMS, decode, encode

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40)
    | st.binary(max_size=40)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=30), inner, max_size=5),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    """Compare values as CBOR does: 1 is not 1.0 and not True, and 0.0 is not -0.0."""
    return repr(one) == repr(other)


@given(VALUES)
def test_what_is_written_is_what_another_implementation_writes(value: Any):
    assert encode(value) == cbor2.dumps(value, canonical=True)


@given(VALUES)
def test_what_is_written_can_be_read_here_and_there(value: Any):
    data = encode(value)

    assert encode(decode(data)) == data
    assert encode(cbor2.loads(data)) == data
    if not isinstance(value, dict | list):
        assert same(decode(data), value)


@given(VALUES)
def test_what_others_write_is_read(value: Any):
    assert encode(decode(cbor2.dumps(value))) == encode(value)


@given(st.binary(max_size=60))
def test_garbage_is_refused_or_is_a_value(data: bytes):
    try:
        value = decode(data)
    except ValueError:
        return

    assert decode(encode(value)) == value
    assert repr(cbor2.loads(data)) == repr(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [  # RFC 8949, appendix A
        (0, "00"),
        (23, "17"),
        (24, "1818"),
        (100, "1864"),
        (1000, "1903e8"),
        (1000000, "1a000f4240"),
        (1000000000000, "1b000000e8d4a51000"),
        (18446744073709551615, "1bffffffffffffffff"),
        (-1, "20"),
        (-1000, "3903e7"),
        (0.0, "f90000"),
        (-0.0, "f98000"),
        (1.5, "f93e00"),
        (100000.0, "fa47c35000"),
        (1.1, "fb3ff199999999999a"),
        (5.960464477539063e-8, "f90001"),
        (1e300, "fb7e37e43c8800759c"),
        (False, "f4"),
        (True, "f5"),
        (None, "f6"),
        (b"\x01\x02", "420102"),
        ("ü", "62c3bc"),
        ([1, [2, 3]], "8201820203"),
        ({"bb": 1, "a": 2, "aa": 3}, "a36161026261610362626201"),
    ],
)
def test_the_examples_of_the_standard(value: Any, expected: str):
    assert encode(value).hex() == expected
    assert same(decode(bytes.fromhex(expected)), value) or isinstance(value, dict)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "18",
        "62c3",
        "62c328",
        "8201",
        "a1",
        "a101",
        "a10102",
        "a2616101616102",
        "0000",
        "9fff",
        "bfff",
        "5f4101ff",
        "c11a514b67b0",
        "c249010000000000000000",
        "d81c81d81d00",
        "f7",
        "f8ff",
        "f97c00",
        "f97e00",
        "3bffffffffffffffff",
        "9bffffffffffffffff",
        "bbffffffffffffffff",
        "5bffffffffffffffff",
        "7bffffffffffffffff",
        "1c",
        "ff",
        "81" * (MAX_DEPTH + 1) + "00",
    ],
)
def test_what_has_no_place_in_an_envelope_is_not_read(data: str):
    with pytest.raises(ValueError, match=r"\w"):
        decode(bytes.fromhex(data))


def test_a_flood_of_tiny_values_is_refused_early():
    many = b"\x9a\x00\x10\x00\x00" + b"\x80" * 0x100000

    with pytest.raises(ValueError, match=f"more than {MAX_ITEMS} values"):
        decode(many)
    assert decode(encode([None] * (MAX_ITEMS - 1))) == [None] * (MAX_ITEMS - 1)


def test_depth_has_a_bound_in_both_directions():
    value: Any = 0
    for _ in range(MAX_DEPTH):
        value = [value]

    assert decode(encode(value)) == value
    with pytest.raises(ValueError, match="deeper"):
        encode([value])


@pytest.mark.parametrize(
    "value", [2**64, -(2**63) - 1, 10**400, math.nan, math.inf, {1: 2}, {1, 2}, "\ud800"]
)
def test_what_has_no_place_in_an_envelope_is_not_written(value: Any):
    with pytest.raises(ValueError, match=r"\w"):
        encode(value)
