"""Edits with wrong indentation get the indentation of the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.tools.fuzzy_edit import IndentMap, indent_of, indent_unit, indent_width

UNITS = ["  ", "    ", "        ", "\t"]


@pytest.mark.parametrize(
    ("line", "indent", "width"),
    [("x", "", 0), ("  x", "  ", 2), ("\t x ", "\t ", 5), ("   ", "", 0), ("", "", 0)],
)
def test_the_indentation_of_a_line(line: str, indent: str, width: int):
    assert (indent_of(line), indent_width(indent_of(line))) == (indent, width)


@pytest.mark.parametrize(
    ("sample", "unit"),
    [
        ("a\n  b\n    c\n  d\n", "  "),
        ("a\n    b\n        c\n     * aligned\n    d\n        e\n", "    "),
        ("a\n\tb\n\t\tc\n    d\n", "\t"),
        ("a\nb\n   \n", ""),
        ("", ""),
    ],
)
def test_the_unit_of_a_text(sample: str, unit: str):
    assert indent_unit(sample) == unit


def test_a_blank_line_stays_as_it_is():
    assert IndentMap(["x"], ["\tx"], [], "\t").fit("", {"": "\t"}) == ""


def test_lines_next_to_it_are_asked_first():
    """A described block may have lost its shape: two lines with one indentation that differ in the file."""
    indents = IndentMap(["if x:", "y()"], ["if x:", "    y()"], ["z()"], "    ")

    assert [indents.fit("z()", {}), indents.fit("z()", {"": "    "})] == ["z()", "    z()"]


@pytest.mark.parametrize(
    ("described", "standing", "unit", "line", "fitted"),
    [
        (["if x:", "    y()"], ["\tif x:", "\t\ty()"], "\t", "        z()", "\t\t\tz()"),
        (["    y()"], ["\ty()"], "\t", "z()", "z()"),
        (["        y()"], ["    y()"], "    ", "    z()", "z()"),
        (["  if x:", "    y()"], ["if x:", "    y()"], "    ", "z()", "z()"),
        (["x"], ["      x"], "", "  z()", "        z()"),
        (["\tx", "\t\ty"], ["  x", "    y"], "  ", "\t\t\tz", "      z"),
        (["    x"], ["\t\tx"], "\t", "      z", "\t\t\tz"),
        (["\t\tx"], ["\t  x"], "\t", "\tz", "  z"),
    ],
)
def test_an_unknown_indentation_is_measured_from_the_nearest(
    described: list[str], standing: list[str], unit: str, line: str, fitted: str
):
    assert IndentMap(described, standing, [line], unit).fit(line, {}) == fitted


BLOCKS = st.lists(st.integers(0, 4), min_size=1, max_size=8)


def block(levels: list[int], unit: str, base: int) -> list[str]:
    return [unit * (base + level) + f"line{number}" for number, level in enumerate(levels)]


@given(
    old=BLOCKS,
    new=BLOCKS,
    units=st.tuples(st.sampled_from(UNITS), st.sampled_from(UNITS)),
    bases=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_a_block_described_in_another_style_comes_back_in_that_of_the_file(
    old: list[int], new: list[int], units: tuple[str, str], bases: tuple[int, int]
):
    """Two neighbouring levels of the described lines show how the one style becomes the other."""
    (theirs, ours), (their_base, our_base) = units, bases
    old = [*old, 0, 1]
    described, standing = block(old, theirs, their_base), block(old, ours, our_base)
    new_lines = block(new, theirs, their_base)

    indents = IndentMap(described, standing, new_lines, ours)

    assert [indents.fit(line, {}) for line in new_lines] == block(new, ours, our_base)


@given(lines=st.lists(st.text(" \tx", max_size=8), min_size=1, max_size=6), line=st.text(" \tx", max_size=8))
def test_nothing_but_the_indentation_is_changed(lines: list[str], line: str):
    standing = [line.strip() for line in lines]

    assert IndentMap(lines, standing, [line], "\t").fit(line, {}).strip() == line.strip()
