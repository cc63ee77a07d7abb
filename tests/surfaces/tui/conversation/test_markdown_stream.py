"""A growing text looks the same as if it had arrived at once."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.surfaces.tui.conversation.markdown_stream import MAX_CHARS_AT_ONCE, MarkdownStream
from tests.surfaces.tui.conversation.samples import settled, shown, texts
from tests.surfaces.tui.conversation.test_blocks import MARKDOWN


@settings(max_examples=40)
@given(MARKDOWN, st.lists(st.integers(0, 80), max_size=4), st.integers(1, 30))
def test_any_pieces_give_the_lines_of_the_whole(text, cuts, width):
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    prose = MarkdownStream()
    for start, end in pairwise(places):
        prose.feed(text[start:end])
        prose.lines(width)
    prose.finish()

    assert settled(prose, width) == shown(text, width)


def test_finished_blocks_are_laid_out_once():
    prose = MarkdownStream()
    prose.feed("first\n\nsecond\n\nthird\nfou")
    before = list(prose.lines(20))
    prose.feed("rth")

    after = prose.lines(20)

    assert texts(after) == ["first", "", "second", "", "third fourth"]
    assert (after[:3], after[4] is before[4]) == (before[:3], False)


def test_another_width_lays_out_everything():
    prose = MarkdownStream()
    prose.feed("one two\n\nthree four")

    assert texts(prose.lines(20)) == ["one two", "", "three four"]
    assert texts(prose.lines(5)) == ["one", "two", "", "three", "four"]


def test_a_long_text_is_shown_roughly_at_first_and_its_end_finely():
    prose = MarkdownStream()
    prose.feed("**b** " + "word " * 20 + "\n\n" + "xyz\n\n" * (MAX_CHARS_AT_ONCE // 2) + "**end**")
    prose.finish()

    lines = texts(prose.lines(200))

    assert (lines[0][:5], lines[-1], prose.is_rough) == ("**b**", "end", True)
    assert settled(prose, 200)[0][:5] == "b wor"
    assert not prose.is_rough
