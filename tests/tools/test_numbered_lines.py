"""Numbered lines of files of any size and content."""

import io
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.numbered_lines import MAX_LINE_BYTES, LineRange, is_binary, read_numbered

NOTE = "\n[the file is not valid UTF-8: bytes that are not text are shown as \\xNN]"


CUT = "\n[lines of more than 2000 bytes are cut; grep shows the part of a line around a match]"


def read(data: bytes, start: int = 1, end: int | None = None, max_bytes: int = 1_000_000) -> str:
    file = io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]
    return read_numbered(file, LineRange(start, end), max_bytes=max_bytes, stop=threading.Event())


def refusal(data: bytes, start: int = 1, end: int | None = None, max_bytes: int = 1_000_000) -> str:
    with pytest.raises(ToolError) as caught:
        read(data, start, end, max_bytes)
    return str(caught.value)


def test_numbers_are_as_wide_as_the_last_one():
    assert read(b"x\n" * 10) == "\n".join([*(f" {number}: x" for number in range(1, 10)), "10: x"])


def test_a_line_needs_no_newline_at_the_end():
    assert read(b"a\nb") == read(b"a\nb\n") == "1: a\n2: b"


def test_carriage_returns_before_newlines_are_not_shown():
    assert read(b"a\r\nb\rc\r\n\r\nd\r") == "1: a\n2: b\rc\n3: \n4: d"


def test_a_byte_order_mark_is_not_shown():
    assert read(b"\xef\xbb\xbfa\n\xef\xbb\xbfb") == "1: a\n2: \ufeffb"


def test_bytes_that_are_no_text_are_shown_and_announced():
    assert read("café\n".encode("latin-1") + "é\n".encode()) == f"1: caf\\xe9\n2: é{NOTE}"
    assert read("é\ncafé\n".encode("latin-1"), start=2) == f"2: caf\\xe9{NOTE}"


def test_other_line_breaks_are_characters():
    assert read("a\x0b\x0c\x85\u2028b\n".encode()) == "1: a\x0b\x0c\x85\u2028b"


def test_a_line_of_64_kib_is_too_long_for_a_whole_file():
    assert read(b"x" * (MAX_LINE_BYTES - 1) + b"\n") == f"1: {'x' * 2000}… [63535 more bytes]{CUT}"
    assert refusal(b"ok\n" + b"x" * MAX_LINE_BYTES) == (
        "bufio.Scanner: token too long"
        " (hint: line 2 is longer than 65536 bytes; with an end_line it is shown in part)"
    )


def test_a_line_of_any_length_is_shown_in_part_when_a_range_is_asked_for():
    data = b"a\n" + b"x" * 1_000_000 + b"\nb\n"

    assert read(data, end=3) == f"1: a\n2: {'x' * 2000}… [998000 more bytes]\n3: b{CUT}"
    assert read(data, start=3) == "3: b"


def test_a_cut_does_not_divide_a_character():
    assert read(b"x" + "é".encode() * 1000 + b"x\n") == f"1: x{'é' * 999}… [3 more bytes]{CUT}"
    assert read("é".encode() * 1000 + b"\n") == f"1: {'é' * 1000}"
    assert read("日".encode() * 1000 + b"\n") == f"1: {'日' * 666}… [1002 more bytes]{CUT}"


def test_lines_before_a_line_that_is_too_long_can_be_read():
    assert read(b"a\nb\nc\n" + b"x" * MAX_LINE_BYTES, end=2) == "1: a\n2: b"


def test_many_lines_need_a_range():
    lines = b"x\n" * 10_000

    assert refusal(lines) == (
        "file has more than 10000 lines; specify start_line and end_line to read a range"
    )
    assert read(lines, start=2).count("\n") == 9998
    assert read(lines, end=10_000).count("\n") == 9999


def test_a_range_holds_a_limited_number_of_bytes():
    assert read(b"abc\n" * 5, max_bytes=20).count("\n") == 4
    assert refusal(b"abc\n" * 6, start=1, max_bytes=20) == (
        "lines 1-6 hold more than 20 bytes; read fewer lines at once"
    )


def test_an_empty_range_is_refused():
    assert refusal(b"") == "no lines starting from line 1 (file has 0 lines)"
    assert refusal(b"a\n", start=5, end=9) == "no lines in range 5-9 (file has 1 lines)"


def test_a_read_that_is_stopped_ends():
    stop = threading.Event()
    stop.set()

    with pytest.raises(ToolError, match="stopped"):
        read_numbered(
            io.BufferedReader(io.BytesIO(b"x\n" * 5000)),  # type: ignore[arg-type]
            LineRange(4000, 4001),
            max_bytes=10,
            stop=stop,
        )


def test_a_file_with_a_nul_at_its_start_is_binary():
    assert is_binary(io.BufferedReader(io.BytesIO(b"\x7fELF\0")))  # type: ignore[arg-type]
    assert not is_binary(io.BufferedReader(io.BytesIO(b"text")))  # type: ignore[arg-type]


@given(
    lines=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\n\r\ufeff"), max_size=5), max_size=30
    ),
    start=st.integers(1, 30),
    end=st.none() | st.integers(0, 30),
)
def test_a_range_is_a_slice(lines: list[str], start: int, end: int | None):
    data = "".join(f"{line}\n" for line in lines).encode()
    wanted = list(enumerate(lines, 1))[start - 1 : end]
    if not wanted or (end is not None and end < start):
        with pytest.raises(ToolError):
            read(data, start, end)
        return

    width = len(str(wanted[-1][0]))
    assert read(data, start, end) == "\n".join(f"{number:{width}d}: {line}" for number, line in wanted)
