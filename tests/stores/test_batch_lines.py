"""Lines are found at every alignment of lines and chunks."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.stores.batch_lines import (
    complete_end,
    join_batch,
    last_number,
    lines_before,
    lines_between,
    offset_of,
)


class Scratch:
    """A file whose content is set again for each example."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def hold(self, data: bytes) -> int:
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, data, 0)
        return len(data)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    file = Scratch(tmp_path_factory.mktemp("scratch") / "file")
    yield file
    os.close(file.fd)


def numbered(sizes: list[int]) -> list[bytes]:
    return [b'{"seq":%d,"x":"%b"}' % (seq, b"x" * size) for seq, size in enumerate(sizes, 1)]


batches_of_sizes = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=3), max_size=5)


@given(batches=batches_of_sizes)
def test_lines_are_found_at_every_chunk_size(scratch: Scratch, batches: list[list[int]]):
    """Kontekst's tail reader lost two lines when a chunk began exactly at a newline."""
    lines = numbered([size for batch in batches for size in batch])
    rest = iter(lines)
    end = scratch.hold(b"".join(join_batch([next(rest) for _ in batch]) for batch in batches))

    for chunk in range(1, end + 2):
        assert list(lines_before(scratch.fd, end, chunk)) == lines[::-1]
        assert list(lines_between(scratch.fd, 0, end, chunk)) == lines
        assert complete_end(scratch.fd, end, chunk) == end


@pytest.mark.parametrize("chunk", [8192, 65536])
def test_a_line_that_ends_around_the_edge_of_a_chunk(scratch: Scratch, chunk: int):
    for before_the_edge in range(-3, 4):
        lines = [b"a" * 100, b"b" * 100, b"c" * (chunk + before_the_edge - 1)]
        end = scratch.hold(join_batch(lines[:1]) + join_batch(lines[1:]))

        assert list(lines_before(scratch.fd, end, chunk)) == lines[::-1]


@given(batches=batches_of_sizes, torn=st.lists(st.integers(0, 12), min_size=1, max_size=3), data=st.data())
def test_an_unfinished_batch_does_not_count(
    scratch: Scratch, batches: list[list[int]], torn: list[int], data: st.DataObject
):
    whole = b"".join(join_batch(numbered(batch)) for batch in batches)
    last = join_batch(numbered(torn))
    cut = data.draw(st.integers(0, len(last) - 1))
    size = scratch.hold(whole + last[:cut])

    for chunk in range(1, size + 2):
        assert complete_end(scratch.fd, size, chunk) == len(whole)


@given(sizes=st.lists(st.integers(0, 300), max_size=30))
def test_numbers_are_found_by_halving(scratch: Scratch, sizes: list[int]):
    lines = numbered(sizes)
    end = scratch.hold(b"".join(join_batch([line]) for line in lines))
    starts = [sum(len(line) + 1 for line in lines[:n]) for n in range(len(lines) + 1)]

    for seq in range(len(lines) + 3):
        assert offset_of(scratch.fd, end, seq) == starts[min(max(seq - 1, 0), len(lines))]
    assert last_number(scratch.fd, end) == len(lines)


def test_lines_without_a_number_are_passed_over(scratch: Scratch):
    lines = numbered([5, 5, 5, 5, 5])
    lines[1] = b"rubbish"
    lines[2] = b""
    lines[4] = b'{"sxq":5}'
    end = scratch.hold(b"".join(line + b"\n" for line in lines))

    assert offset_of(scratch.fd, end, 1) == 0
    assert offset_of(scratch.fd, end, 4) == len(b"\n".join(lines[:3])) + 1
    assert last_number(scratch.fd, end) == 5


def test_a_small_answer_from_a_large_file_reads_little_of_it(scratch: Scratch):
    """40 MB of lines: looked up by number, and from the end."""
    line = b'{"seq":%08d,"x":"' + b"x" * 3000 + b'"}\n'
    os.ftruncate(scratch.fd, 0)
    count = 40_000_000 // 3020
    end = os.pwrite(scratch.fd, b"".join(line % (10_000_000 + n) for n in range(count)), 0)
    before = read_bytes()

    assert os.pread(scratch.fd, 15, offset_of(scratch.fd, end, 10_000_000 + 7777)) == b'{"seq":10007777'
    assert next(lines_before(scratch.fd, end)).startswith(b'{"seq":%d' % (10_000_000 + count - 1))
    assert read_bytes() - before < 1_000_000


def read_bytes() -> int:
    """Return how much this process has read so far, from disk or cache."""
    return int(Path("/proc/self/io").read_text().split()[1])
