"""Output becomes text that hides nothing and wastes nothing."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.tools.secrets import Masker
from bridle.tools.shell.terminal_text import LiveText, clean_output, escape_invisible, open_escape


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\n\ttext\n", "plain\n\ttext\n"),
        (b"\x1b[1;31mred\x1b[0m \x1b(Bx\x0f", "red x"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        (b"\x1b]0;never ends\nnext", "0;never ends\nnext"),
        (b"end\x1b", "end"),
        (b" 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"),
        (b"50%\r", "50%"),
        (b"\r\r\nx", "\nx"),
        (b"N\x08NA\x08AM\x08M", "NAM"),
        (b"a\0b\x7fc\xc2\x9bd", "a\\x00b\\x7fc\\x9bd"),
        (b"\xff h\xc3\xa9 \xe2\x82", "\ufffd hé \ufffd"),
    ],
)
def test_bytes_become_text(data: bytes, text: str):
    assert clean_output(data) == text


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[0m" * 100_000,
        b"\x1b[" * 200_000,
        b"\x1b]" * 200_000,
        b"\x1b[" + b"0" * 400_000,
        b"a\x08" * 200_000,
    ],
)
def test_hostile_bytes_take_no_longer_than_others(data: bytes):
    started = time.thread_time()
    clean_output(data)

    assert time.thread_time() - started < 5


@given(
    pieces=st.lists(
        st.sampled_from(
            [b"\x1b[31m", b"\x1b]0;t\x07", b"\xc3\xa9", b"a", b"b\n", b"\r\n", b"\x1b(B", b"\xff"]
        ),
        max_size=12,
    ),
    cuts=st.lists(st.integers(0, 60), max_size=6),
)
def test_live_text_is_the_same_in_any_pieces(pieces: list[bytes], cuts: list[int]):
    data = b"".join(pieces)
    places = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    live = LiveText(Masker({}))

    shown = [live.feed(data[start:end]) for start, end in pairwise(places)]

    assert "".join([*shown, live.flush()]) == clean_output(data)


def test_live_text_is_masked_across_pieces():
    live = LiveText(Masker({"KEY": "0123456789"}))

    assert [live.feed(b"a 01234"), live.feed(b"56789 b"), live.flush()] == ["a ", "[secret KEY] b", ""]


@pytest.mark.parametrize(
    ("text", "end"), [("a", 1), ("a\x1b", 1), ("a\x1b[3", 1), ("a\x1b[3m", 5), ("a\x1b]0;x", 1)]
)
def test_where_an_open_escape_begins(text: str, end: int):
    assert open_escape(text) == end


def test_nothing_in_a_command_is_invisible():
    assert escape_invisible("a\x1b[2K\u202eb\n\tc\u200b") == "a\\x1b[2K\\u202eb\n\tc\\u200b"
