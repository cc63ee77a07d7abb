"""The text of a token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.tenancy import format_token, parse_token, secret_digest


@given(st.binary(min_size=8, max_size=8), st.binary(min_size=32, max_size=32))
def test_a_token_is_read_as_it_was_written(token_id: bytes, secret: bytes):
    assert parse_token(format_token(token_id.hex(), secret)) == (token_id.hex(), secret)


@pytest.mark.parametrize(
    "text",
    ["", "brdl_", "brdl_12_34", f"brdl_{'a' * 16}_{'b' * 63}", f"brdl_{'A' * 16}_{'b' * 64}", "x" * 200],
)
def test_what_is_no_token(text: str):
    assert parse_token(text) is None


@given(st.text())
def test_any_text_is_answered(text: str):
    assert parse_token(text) is None


def test_what_is_kept_is_not_the_secret():
    secret = b"s" * 32

    assert len(secret_digest(secret)) == 32
    assert secret_digest(secret) not in (secret, secret_digest(b"t" * 32))
