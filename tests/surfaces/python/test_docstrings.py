"""Docstrings of every style are parsed alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.python.tools import ParsedDocstring, parse_docstring

GOOGLE = """Count the pieces.

    Also those that are broken.

    Args:
        article (str): its number,
            as on the label
        *more: others

    Returns:
        int: how many
    """

NUMPY = """Count the pieces.

    Also those that are broken.

    Parameters
    ----------
    article : str
        its number,
        as on the label
    more
        others

    Returns
    -------
    int
        how many
    """

SPHINX = """Count the pieces.

    Also those that are broken.

    :param str article: its number,
        as on the label
    :param more: others
    :type more: str
    :returns: how many
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX])
def test_what_is_said_of_a_function_and_of_its_arguments(text: str):
    assert parse_docstring(text) == ParsedDocstring(
        "Count the pieces.\n\nAlso those that are broken.",
        {"article": "its number, as on the label", "more": "others"},
    )


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("", ParsedDocstring("", {})),
        ("One line.", ParsedDocstring("One line.", {})),
        ("Args: none of them matter", ParsedDocstring("Args: none of them matter", {})),
        ("Look.\n\nArgs:", ParsedDocstring("Look.", {})),
        ("Look.\n\nArgs:\n    a: b: c\n\nAnd more.", ParsedDocstring("Look.\n\nAnd more.", {"a": "b: c"})),
        ("Look.\n\nRaises:\n    OSError: sometimes", ParsedDocstring("Look.", {})),
        ("Look.\n\n:param: nothing", ParsedDocstring("Look.", {})),
    ],
)
def test_what_is_no_section_is_text(text: str, described: ParsedDocstring):
    assert parse_docstring(text) == described


@given(st.text(alphabet="ab:- \n()*") | st.text())
def test_any_text_can_be_taken_apart(text: str):
    parse_docstring(f"Args:\n{text}\nParameters\n---\n{text}")
