"""What servers say is shown in a form that does no harm."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.lsp.texts import one_line, some_lines


def test_lines_and_controls():
    text = "  one\t\x1b[31mtwo\r\n\xa0three\u202e \x00"

    assert one_line(text, 100) == "one [31mtwo three "
    assert some_lines(text, 100) == "one[31mtwo\n three "
    assert (one_line("abcdef", 3), some_lines("a\nbcdef", 3)) == ("abc", "a\nb")


@given(st.text(), st.integers(0, 20))
def test_nothing_unprintable_is_left(text: str, most: int):
    line, lines = one_line(text, most), some_lines(text, most)

    assert line.isprintable()
    assert lines.replace("\n", "").isprintable()
    assert max(len(line), len(lines)) <= most
