"""Text from servers is displayed safely."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.lsp.display_text import clean_line, clean_lines


def test_lines_and_controls():
    text = "  one\t\x1b[31mtwo\r\n\xa0three\u202e \x00"

    assert clean_line(text, 100) == "one [31mtwo three "
    assert clean_lines(text, 100) == "one[31mtwo\n three "
    assert (clean_line("abcdef", 3), clean_lines("a\nbcdef", 3)) == ("abc", "a\nb")


@given(st.text(), st.integers(0, 20))
def test_nothing_unprintable_is_left(text: str, most: int):
    line, lines = clean_line(text, most), clean_lines(text, most)

    assert line.isprintable()
    assert lines.replace("\n", "").isprintable()
    assert max(len(line), len(lines)) <= most
