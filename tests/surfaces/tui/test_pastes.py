"""Long pasted texts appear as placeholders, and are sent in full."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.tui.editor import Pastes


@pytest.mark.parametrize("text", ["", "short", "a\n" * 9 + "a", "x" * 2000])
def test_a_short_text_is_pasted_as_it_is(text: str):
    assert Pastes().add(text) == text


def test_a_long_text_becomes_a_mark_and_comes_back():
    pastes = Pastes()
    many, wide = "a\n" * 119 + "a", "x" * 2001

    marks = pastes.add(many), pastes.add(wide)
    assert marks == ("[paste #1: 120 lines]", "[paste #2: 2,001 characters]")
    assert pastes.expand(f"see {marks[1]} and {marks[0]}") == f"see {wide} and {many}"


def test_a_mark_that_somebody_typed_stays():
    pastes = Pastes()
    pastes.add("a\n" * 20)

    assert (
        pastes.expand("[paste #7: 20 lines] [paste #1: 3 lines]")
        == "[paste #7: 20 lines] [paste #1: 3 lines]"
    )


def test_a_mark_inside_a_pasted_text_is_text():
    pastes = Pastes()
    first = pastes.add("a\n" * 20)
    text = f"{first}\n" * 20

    assert pastes.expand(pastes.add(text)) == text


@given(st.lists(st.text(), max_size=5))
def test_whatever_is_pasted_is_sent(texts: list[str]):
    pastes = Pastes()

    assert [pastes.expand(pastes.add(text * 500)) for text in texts] == [text * 500 for text in texts]
