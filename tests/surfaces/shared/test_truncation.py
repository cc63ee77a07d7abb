import pytest

from bridle.core.errors import BridleError
from bridle.surfaces.shared.truncation import truncate_to


def test_what_fits_is_left_as_it_is():
    assert truncate_to({"text": "x" * 90}, 101) == {"text": "x" * 90}


def test_long_texts_are_cut_as_far_as_needed():
    assert truncate_to({"text": "x" * 1000, "more": "y"}, 400) == {
        "text": "x" * 256 + "… [744 characters left out]",
        "more": "y",
    }


def test_texts_in_tuples_are_cut_too():
    assert truncate_to({"texts": ("x" * 1000, "y")}, 400) == {
        "texts": ["x" * 256 + "… [744 characters left out]", "y"]
    }


def test_what_cannot_be_cut_is_refused():
    with pytest.raises(BridleError, match="longer than 10 bytes"):
        truncate_to({"number": 10**30}, 10)
