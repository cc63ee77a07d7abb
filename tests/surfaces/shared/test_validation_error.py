import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from bridle.surfaces.shared.validation_error import MAX_CHARS, format_validation_error


class Inner(Struct, forbid_unknown_fields=True):
    name: str


class Outer(Struct, forbid_unknown_fields=True):
    inner: list[Inner] = []
    count: int = 0


def said(value: object, where: str = "") -> str:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Outer)
    return format_validation_error(caught.value, where)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"inner": [{}]}, "inner[0].name: is missing"),
        ({"color": 1}, "color: unknown field"),
        ({"inner": [{"name": "x", "age": 3}]}, "inner[0].age: unknown field"),
        ({"count": "x"}, "count: expected `int`, got `str`"),
        ([], "expected `object`, got `array`"),
    ],
)
def test_the_field_is_named_and_then_what_is_wrong(value: object, words: str):
    assert (said(value), said(value, "body")) == (words, f"body: {words}")


@given(st.text())
def test_whatever_a_field_is_called(name: str):
    if name not in ("inner", "count"):
        assert said({name: 1}) == ": ".join(filter(None, (name, "unknown field")))[:MAX_CHARS]
