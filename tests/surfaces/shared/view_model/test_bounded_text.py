"""Text that grows without end keeps its beginning and end, and says what is missing."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.shared.view_model.bounded_text import ARG_CHARS, BoundedText, shorten, shorten_args


@given(st.lists(st.text(max_size=60), max_size=40))
def test_a_growing_text_is_what_was_added_or_its_ends(pieces: list[str]):
    growing, screen, whole = BoundedText(100), "", ""

    for piece in pieces:
        whole += piece
        screen = screen + piece if growing.add(piece) else growing.text
        assert screen == growing.text
        assert len(growing.text) <= 100 + len("\n[1,000,000 characters not shown]\n")

    head, gap, tail = growing.text.partition("\n[")
    if len(whole) <= 100:
        assert growing.text == whole
    elif gap:
        left_out, _, rest = tail.partition(" characters not shown]\n")
        assert whole.startswith(head)
        assert whole.endswith(rest)
        assert len(head) + int(left_out) + len(rest) == len(whole)


def test_it_goes_on_from_what_was_there():
    growing = BoundedText(100, "before ")

    assert growing.add("after")
    assert growing.text == "before after"


def test_a_long_text_keeps_its_ends():
    assert shorten("a" * 10, 10) == "a" * 10
    assert shorten("a" * 5 + "b" * 7 + "c" * 5, 10) == "aaaaa\n[7 characters not shown]\nccccc"


def test_long_arguments_are_shortened_one_by_one():
    long = "x" * (ARG_CHARS + 7)
    numbers = list(range(ARG_CHARS))

    args = shorten_args({"path": "a.py", "content": long, "n": 3, "few": [1], "many": numbers})

    assert args["content"] == shorten(long, ARG_CHARS)
    assert isinstance(args["many"], str)
    assert len(args["many"]) < ARG_CHARS + 100
    assert (args["path"], args["n"], args["few"]) == ("a.py", 3, [1])
