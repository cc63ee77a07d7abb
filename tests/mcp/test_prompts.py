"""Servers' prompts, called by the user."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import UsageError
from bridle.mcp.offers import OfferedArgument, OfferedPrompt
from bridle.mcp.prompts import parse_arguments, parse_prompt_call

TWO = OfferedPrompt("p", arguments=(OfferedArgument("who", is_required=True), OfferedArgument("mood")))
ONE = OfferedPrompt("p", arguments=(OfferedArgument("text", is_required=True),))


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("/mcp__a__b", ("mcp__a__b", "")),
        ("/mcp__a__b one two ", ("mcp__a__b", "one two")),
        ("/mcp__a__b\nmore\nlines", ("mcp__a__b", "more\nlines")),
        ("/other", None),
        (" /mcp__a__b", None),
        ("", None),
    ],
)
def test_a_call_is_a_name_and_the_rest(text: str, called: tuple[str, str] | None):
    assert parse_prompt_call(text) == called


@pytest.mark.parametrize(
    ("rest", "given"),
    [
        ("Ann", {"who": "Ann"}),
        ('"Ann Lee" wild', {"who": "Ann Lee", "mood": "wild"}),
        ("mood=wild Ann", {"who": "Ann", "mood": "wild"}),
        ("who=Ann", {"who": "Ann"}),
        ("1+1=2", {"who": "1+1=2"}),
    ],
)
def test_arguments_come_in_order_or_by_name(rest: str, given: dict[str, str]):
    assert parse_arguments(TWO, "p", rest) == given


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        ("", "/p needs who (hint: /p who [mood])"),
        ("mood=wild", "/p needs who (hint: /p who [mood])"),
        ("a b c", "/p: 'c' is an extra argument (hint: /p who [mood])"),
        ("who=a who=b", "/p: who is given twice"),
        ('"open', "/p: no closing quotation (hint: close every quotation mark)"),
    ],
)
def test_what_is_wrong_with_arguments_is_said(rest: str, error: str):
    with pytest.raises(UsageError) as raised:
        parse_arguments(TWO, "p", rest)

    assert str(raised.value) == error


@pytest.mark.parametrize("rest", ["it's a text with spaces", "two words", 'say "x" now'])
def test_the_only_argument_takes_all_of_the_text(rest: str):
    assert parse_arguments(ONE, "p", rest) == {"text": rest}
    assert parse_arguments(ONE, "p", "text='a b'") == {"text": "a b"}
    assert parse_arguments(ONE, "p", "'a b'") == {"text": "a b"}


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(rest: str):
    try:
        found = parse_arguments(TWO, "p", rest)
    except UsageError:
        return
    assert found.keys() <= {"who", "mood"}
    assert "who" in found
