"""Edits up to whitespace: only whole lines, only where they are the only ones, and nothing around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.fuzzy_edit import (
    MAX_WINDOWS,
    LineWindow,
    Match,
    edit_fuzzily,
    find_windows,
    normalize_typography,
)


def refusal(text: str, old: str, new: str) -> str:
    with pytest.raises(ToolError) as caught:
        edit_fuzzily(text, old, new)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("a  \nb\n", "a\nb", "a\nc", "a  \nc\n"),
        ("a\nb\n", "a \nb  ", "c", "c\n"),
        (
            "\tif x:\n\t\ty()\n",
            "if x:\n    y()\n",
            "if x:\n    y()\n    z()\n",
            "\tif x:\n\t\ty()\n\t\tz()\n",
        ),
        ("    f()\n    g()\n", "f()\ng()", "f()\nh()\ng()", "    f()\n    h()\n    g()\n"),
        ("f()\ng()\n", "    f()\n    g()", "    f()\n    h()", "f()\nh()\n"),
        ("a\r\n  b\r\nc\r\n", "a\nb\n", "a\nx\ny\n", "a\r\n  x\r\n  y\r\nc\r\n"),
        ("a\n  b", "a\nb", "a\nx\ny", "a\n  x\n  y"),
        ("a\n  b", "a\nb", "a\nx\n", "a\n  x\n"),
        ("x\n  a\ny\n", "a \n", "", "x\ny\n"),
        ("x\n  a\ny\n", "a ", "", "x\n\ny\n"),
        ("  a\n", "a ", "", "\n"),
        ("  a\n\n  b\n", "a\n \nb", "a\n\nc", "  a\n\n  c\n"),
        ("  a\n", "a\r\n", "b\r\n", "  b\n"),
        ("x\r\n  a", "a ", "b\nc", "x\r\n  b\r\n  c"),
        ("x = “a”\ny = ‘b’ \n", "x = \"a\"\ny = 'b'", "x = \"a\"\ny = 'c'", "x = “a”\ny = 'c'\n"),
        ("a\u00a0=\u00a01 – 2\n", "a = 1 - 2", "a = 3", "a = 3\n"),
        ('say "x"\n', "say “x” ", "say “y”", "say “y”\n"),
    ],
)
def test_lines_are_found_up_to_whitespace(text: str, old: str, new: str, result: str):
    match = edit_fuzzily(text, old, new)

    assert match is not None
    assert match.text == result


def test_a_match_says_where_and_how_it_was_found():
    assert edit_fuzzily("x\n a\n b\ny\n", "a\nb", "a\nc") == Match("x\n a\n c\ny\n", 2, 3, "whitespace")
    assert edit_fuzzily("x\n‘a’\n", " 'a'", "b") == Match(
        "x\nb\n", 2, 2, "whitespace and typographic characters"
    )


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("a b\n", "b "),
        ("ab\n", "a b"),
        ("a\nb\n", "a\n\nb"),
        ("a\n", "a\n\n"),
        ("b\n", "\nb"),
        ("a\n", " \n\t"),
        ("a\n", ""),
        ("", "a"),
        ("A\n", "a "),
    ],
)
def test_what_differs_by_more_is_not_found(text: str, old: str):
    assert edit_fuzzily(text, old, "new") is None


def test_several_places_are_told():
    assert refusal("\ta\nx\n  a\n", "a ", "b") == (
        "old_str not found in file exactly, and up to whitespace it matches at lines 1, 3"
        " (hint: give it with its exact whitespace, or add lines that make it unique)"
    )
    assert refusal(" a\n" * (MAX_WINDOWS + 1), "a ", "b") == (
        f"old_str not found in file exactly; more than {MAX_WINDOWS} places match it up to whitespace"
        " (hint: give it with its exact whitespace, or add lines that make it unique)"
    )


def test_the_place_with_the_given_indentation_comes_first():
    text = "  a\n    b\na\nb \na\n  b\n"

    match = edit_fuzzily(text, "a\nb", "a\nc")

    assert match is not None
    assert match.text == "  a\n    b\na\nc\na\n  b\n"


def test_the_place_with_the_given_shape_comes_before_others():
    match = edit_fuzzily("a\nb\n\n\ta\n\t\tb\n", "a\n    b", "a\n    c")

    assert match is not None
    assert match.text == "a\nb\n\n\ta\n\t\tc\n"


def test_an_edit_that_would_change_nothing_is_refused():
    assert refusal("  a\n", "a \n", "a\n") == (
        "the edit changes nothing: the matching lines already equal new_str"
    )


def test_characters_are_made_plain_one_for_one():
    text = "‘’“”–—−\u00a0\u3000é"

    assert normalize_typography(text) == "''\"\"---  é"
    assert len(normalize_typography(text)) == len(text)


# ---------------------------------------------------------------------------- properties

LINES = st.lists(st.text("ab \t", max_size=5), max_size=12)


@given(lines=LINES, keys=st.lists(st.sampled_from(["", "a", "b", "ab", "a b"]), min_size=1, max_size=4))
def test_windows_are_those_that_a_plain_search_finds(lines: list[str], keys: list[str]):
    text = "".join(f"{line}\n" for line in lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    expected = [
        LineWindow(starts[first], starts[first + len(keys)])
        for first in range(len(lines) - len(keys) + 1)
        if any(keys) and [line.strip() for line in lines[first : first + len(keys)]] == keys
    ]

    assert find_windows(text, keys) == expected


@given(
    before=LINES,
    wanted=st.lists(st.sampled_from(["u1", "  u2", "\tu3", "", "    u4"]), min_size=1, max_size=5).filter(
        lambda lines: any(line.strip() for line in lines)
    ),
    after=LINES,
    new=st.lists(st.text("xy \t", max_size=6), max_size=5),
    shift=st.sampled_from(["", "  ", "\t"]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_lines_around_the_match_are_never_changed(
    before: list[str], wanted: list[str], after: list[str], new: list[str], shift: str, ending: str
):
    head, body, tail = (
        "".join(line + ending for line in lines)
        for lines in (before, [f"{shift}{line} " for line in wanted], after)
    )

    match = edit_fuzzily(head + body + tail, as_text(wanted), as_text(new))

    assert match is not None
    assert match.text.startswith(head)
    assert match.text.endswith(tail)
    middle = match.text[len(head) : len(match.text) - len(tail)]
    assert [line.strip() for line in middle.split(ending)] == [*(line.strip() for line in new), ""]
    assert middle.count("\n") == middle.count(ending)


def as_text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# ---------------------------------------------------------------------------- cost


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("\n" * 2_000_000, "a\n" * 100),
        ("a\n" * 1_000_000, "a\n" * 5_000 + "a"),
        (" a\n" * 500_000 + "b\n", "a\n" * 5_000 + "b"),
        ("a" * 2_000_000, "a\na"),
        ("a b " * 500_000, "a b \na b"),
        ("x" * 1000 + "\n" + ("y" * 1000 + "\n") * 2_000, ("y" * 1000 + " \n") * 1_000),
        ("a\nb\n" * 250_000, "a\nb\n" * 10_000 + "a\na"),
    ],
    ids=["empty lines", "the same line", "a run", "one line", "hits in one line", "long lines", "a pattern"],
)
def test_repetition_does_not_make_it_quadratic(text: str, old: str):
    try:
        match = edit_fuzzily(text, old, "new")
    except ToolError as error:
        assert "exactly" in str(error)  # noqa: PT017  either answer is right, a late one is not
    else:
        assert match is None or match.text != text
