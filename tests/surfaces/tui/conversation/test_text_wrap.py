"""Wrapping: nothing is lost, nothing is too wide, and joining gives the original text."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from bridle.surfaces.tui.conversation.text_wrap import MAX_FLOW_CHARS, Flow, sanitize, wrap
from tests.surfaces.tui.conversation.samples import texts

WORDS = st.text(st.sampled_from("ab 漢é👩‍\u200b\u0301"), max_size=60)
MODES = st.sampled_from(["words", "letters"])


def test_words_are_kept_together_and_margins_hang():
    flow = Flow((("one two ", "text"), ("three", "strong")), (("* ", "name"),), (("  ", "text"),))

    lines = wrap(flow, 9)

    assert [(line.pieces, line.margin, line.join) for line in lines] == [
        ((("* ", "name"), ("one two", "text")), 2, "\n"),
        ((("  ", "text"), ("three", "strong")), 2, " "),
    ]


def test_a_word_that_is_too_long_is_broken():
    assert texts(wrap(Flow((("abcdefgh ij", "text"),)), 3)) == ["abc", "def", "gh", "ij"]


def test_wide_characters_are_never_halved():
    assert texts(wrap(Flow((("漢字漢字", "text"),)), 5)) == ["漢字", "漢字"]


def test_a_line_that_is_cut_says_so():
    assert texts(wrap(Flow((("a long line", "text"),), mode="cut"), 6)) == ["a lon…"]
    assert texts(wrap(Flow((("short", "text"),), mode="cut"), 6)) == ["short"]


def test_a_rule_fills_the_line():
    assert texts(wrap(Flow((("done", "done"),), (("── ", "dim"),), mode="rule"), 12)) == ["── done ────"]
    assert texts(wrap(Flow((), mode="rule"), 4)) == ["────"]


def test_a_margin_that_leaves_no_room_is_left_out():
    assert texts(wrap(Flow((("ab", "text"),), (("    ", "text"),)), 3)) == ["ab"]


def test_a_text_without_end_is_bounded():
    lines = wrap(Flow((("x" * 1_000_000, "text"),)), 80)

    assert len(lines) == MAX_FLOW_CHARS // 80 + 1
    assert "".join(texts(lines)).endswith("… [980,000 characters not shown]")


@settings(max_examples=60)
@given(WORDS, st.integers(1, 12), MODES)
def test_any_text_fits_and_is_whole_again_when_joined(text, width, mode):
    lines = wrap(Flow(((text, "text"),), mode=mode), width)

    joined = "".join(line.join + line.text for line in lines)[1:]
    assert joined.replace(" ", "") == text.replace(" ", "")
    assert mode == "words" or joined == text
    assert all(cell_len(line.text) <= max(width, 2) for line in lines)


def test_what_steers_a_terminal_is_shown():
    assert sanitize("\x1b[31m\tb\r\nc\u202e\ud800") == "\\x1b[31m    b\nc\\u202e\ufffd"
