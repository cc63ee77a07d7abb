import asyncio

from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.rpc.lines import StreamLines, TooLong


async def read(pieces: list[bytes], most_bytes: int = 100) -> list[bytes | None]:
    """Read all lines; None stands for one that was too long."""
    reader = asyncio.StreamReader()
    lines = StreamLines(reader, most_bytes)
    for piece in pieces:
        reader.feed_data(piece)
    reader.feed_eof()
    found: list[bytes | None] = []
    while (line := await lines.next()) is not None:
        found.append(None if isinstance(line, TooLong) else line)
    return found


async def test_lines_are_found_wherever_the_stream_is_cut():
    assert await read([b"o", b"ne\ntw", b"o\n\n  \r\nthree"]) == [b"one", b"two", b"three"]


async def test_a_line_that_is_too_long_is_told_and_the_next_is_read():
    assert await read([b"x" * 80, b"y" * 80, b"z\nafter\n"]) == [None, b"after"]
    assert await read([b"x" * 101]) == [None]
    assert await read([b"x" * 100]) == [b"x" * 100]


@given(
    st.lists(st.sampled_from([b"a", b"bb", b"{}", b"c" * 9]), max_size=8),
    st.lists(st.integers(1, 7), max_size=8),
)
def test_no_cut_changes_what_is_read(lines: list[bytes], cuts: list[int]):
    stream = b"".join(line + b"\n" for line in lines)
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(stream[at : at + cut])
        at += cut

    assert asyncio.run(read([piece for piece in (*pieces, stream[at:]) if piece])) == lines
