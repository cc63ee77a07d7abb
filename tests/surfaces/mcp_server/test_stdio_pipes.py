"""Standard input and output as a transport."""

import io
import os
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.mcp_server.stdio import TOO_LONG, Lines, Writer

MOST = 8


async def lines_of(data: bytes) -> list[bytes]:
    return [line async for line in Lines(io.BytesIO(data), MOST)]


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=6))
async def test_every_line_comes_once_and_in_order_or_as_too_long(lines: list[bytes]):
    found = await lines_of(b"".join(lines))

    assert found == [line if len(line) <= MOST else TOO_LONG for line in lines]


async def test_a_last_line_without_its_end_comes_too():
    assert await lines_of(b"one\ntwo") == [b"one\n", b"two"]
    assert await lines_of(b"much too long for it") == [TOO_LONG]


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):
            os.close(end)


async def test_what_is_written_comes_out_whole(pipe: tuple[int, int]):
    reading, writing = pipe
    writer = Writer(os.fdopen(writing, "wb", closefd=False))
    await writer.write(b"one\n")
    await writer.write(b"two\n")

    assert os.read(reading, 100) == b"one\ntwo\n"


async def test_a_reader_that_has_left_is_told(pipe: tuple[int, int]):
    reading, writing = pipe
    os.close(reading)

    with pytest.raises(BrokenPipeError):
        await Writer(os.fdopen(writing, "wb", buffering=0, closefd=False)).write(b"one\n")
