"""Lines from chunks."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.system.line_buffer import LineBuffer

CHUNKS = st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"a", b"\n")), max_size=20)


@given(CHUNKS)
def test_lines_do_not_depend_on_how_they_were_cut(chunks: list[bytes]):
    lines = LineBuffer(1000)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    *whole, rest = b"".join(chunks).split(b"\n")

    assert found == [line.removesuffix(b"\r") for line in whole]
    assert lines.rest() == rest


@given(CHUNKS, st.integers(1, 10))
def test_a_line_that_is_too_long_is_none_and_the_next_is_whole_again(chunks: list[bytes], limit: int):
    lines = LineBuffer(limit)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    *whole, _ = b"".join(chunks).split(b"\n")

    assert found == [None if len(line) > limit else line.removesuffix(b"\r") for line in whole]


def test_what_is_too_long_is_not_kept():
    lines = LineBuffer(10)
    for _ in range(1000):
        lines.feed(b"x" * 10)

    assert lines.rest() == b""
    assert lines.feed(b"\nshort\n") == [None, b"short"]
