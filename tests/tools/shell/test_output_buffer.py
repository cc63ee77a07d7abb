"""The ring buffer keeps the first and the newest bytes, however they arrive."""

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.tools.shell.output_buffer import OutputBuffer, OutputSlice

HEAD, SIZE = 10, 16


def numbered(start: int, count: int) -> bytes:
    return bytes(number % 251 for number in range(start, start + count))


@given(sizes=st.lists(st.integers(0, 40), max_size=12), start=st.integers(0, 300), limit=st.integers(0, 60))
def test_what_is_kept_is_read_and_the_rest_is_skipped(
    tmp_path_factory, sizes: list[int], start: int, limit: int
):
    ring = OutputBuffer(tmp_path_factory.getbasetemp(), head_bytes=HEAD, ring_bytes=SIZE)
    total = 0
    for size in sizes:
        ring.append(numbered(total, size))
        total += size
    oldest = max(HEAD, total - SIZE)

    piece = ring.read(start, limit)
    ring.close()

    expected = min(start, total)
    if HEAD <= expected < oldest:
        expected = oldest
    end = min(total, expected + limit)
    if expected < HEAD:
        end = min(end, HEAD)
    assert (ring.total, piece) == (total, OutputSlice(numbered(expected, end - expected), expected))


@settings(max_examples=50)
@given(sizes=st.lists(st.integers(0, 60), min_size=1, max_size=12), limit=st.integers(1, 40))
def test_reading_on_and_on_gives_all_that_is_kept(tmp_path_factory, sizes: list[int], limit: int):
    ring = OutputBuffer(tmp_path_factory.getbasetemp(), head_bytes=HEAD, ring_bytes=SIZE)
    for size in sizes:
        ring.append(numbered(ring.total, size))
    total, position, seen = ring.total, 0, b""
    while position < total:
        piece = ring.read(position, limit)
        assert piece.data
        seen, position = seen + piece.data, piece.end
    ring.close()

    whole = numbered(0, total)
    assert seen == (whole if total <= HEAD + SIZE else whole[:HEAD] + whole[-SIZE:])


def test_a_short_output_needs_no_file(tmp_path: Path):
    ring = OutputBuffer(tmp_path / "folder")
    ring.append(b"x" * 64 * 1024)

    assert not (tmp_path / "folder").exists()
    assert ring.read(0, 1_000_000) == OutputSlice(b"x" * 64 * 1024, 0)


def test_the_file_has_no_name_and_goes_with_the_ring(tmp_path: Path):
    before = len(os.listdir("/proc/self/fd"))
    ring = OutputBuffer(tmp_path / "folder", head_bytes=4)
    ring.append(b"0123456789")

    assert list((tmp_path / "folder").iterdir()) == []
    assert ring.read(2, 100) == OutputSlice(b"23", 2)
    assert ring.read(4, 100) == OutputSlice(b"456789", 4)
    ring.close()
    ring.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert ring.read(0, 100) == OutputSlice(b"0123", 0)
    assert ring.read(4, 100) == OutputSlice(b"", 10)


def test_a_disk_that_takes_nothing_leaves_the_head_and_the_count(tmp_path: Path):
    (tmp_path / "folder").write_text("in the way")
    ring = OutputBuffer(tmp_path / "folder", head_bytes=4)
    ring.append(b"0123456789")
    ring.append(b"0123456789")

    assert ring.failure == "file exists"
    assert (ring.total, ring.read(0, 100), ring.read(7, 100)) == (
        20,
        OutputSlice(b"0123", 0),
        OutputSlice(b"", 20),
    )
