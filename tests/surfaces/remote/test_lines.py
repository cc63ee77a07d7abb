"""Lines of a connection, at every split."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.remote.connection import SEND_BYTES, Lines, LineTooLong, Outbox


async def read_all(pieces: list[bytes], most: int = 1000) -> list[bytes]:
    reader = asyncio.StreamReader()
    for piece in pieces:
        if piece:
            reader.feed_data(piece)
    reader.feed_eof()
    lines, found = Lines(reader), []
    while (line := await lines.next(most)) is not None:
        found.append(line)
    return found


@given(st.lists(st.binary(max_size=20).map(lambda text: text.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_are_the_same_however_they_arrive(lines: list[bytes], data: st.DataObject):
    sent = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=6)))
    pieces = [sent[start:end] for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True)]

    assert asyncio.run(read_all(pieces)) == lines


async def test_what_was_not_ended_is_no_line():
    assert await read_all([b"one\ntw"]) == [b"one"]


@pytest.mark.parametrize("pieces", [[b"x" * 11], [b"x" * 11 + b"\n"], [b"ok\n", b"x" * 300_000]])
async def test_a_line_that_grows_too_long_is_an_error(pieces: list[bytes]):
    with pytest.raises(LineTooLong, match="longer than 10 bytes"):
        await read_all(pieces, most=10)


async def test_a_line_without_an_end_costs_no_more_than_is_allowed():
    reader = asyncio.StreamReader()
    sent = 0

    async def feed() -> None:
        nonlocal sent
        while True:
            reader.feed_data(b"x" * 1024)
            sent += 1024
            await asyncio.sleep(0)

    feeding = asyncio.create_task(feed())
    with pytest.raises(LineTooLong):
        await Lines(reader).next(16 * 1024)
    feeding.cancel()

    assert sent <= 128 * 1024


class Pipe:
    """The writing side of a connection, reduced to the methods that an outbox uses."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.can_take = asyncio.Event()
        self.can_take.set()

    def write(self, data: bytes) -> None:
        self.written.append(data)

    async def drain(self) -> None:
        await self.can_take.wait()


async def test_lines_of_one_moment_go_together():
    pipe = Pipe()
    outbox = Outbox(pipe)  # type: ignore[arg-type]
    for line in (b"a\n", b"b\n", b"c\n"):
        await outbox.send(line)
    assert pipe.written == []
    await asyncio.sleep(0)
    await outbox.send(b"d\n")
    await asyncio.sleep(0)

    assert pipe.written == [b"a\nb\nc\n", b"d\n"]


async def test_many_lines_of_one_moment_go_in_pieces():
    pipe = Pipe()
    outbox = Outbox(pipe)  # type: ignore[arg-type]
    line = b"x" * 999 + b"\n"
    for _ in range(1000):
        await outbox.send(line)
    await asyncio.sleep(0)

    assert b"".join(pipe.written) == line * 1000
    assert max(map(len, pipe.written)) < SEND_BYTES + len(line)


async def test_who_does_not_read_holds_up_who_sends():
    pipe = Pipe()
    pipe.can_take.clear()
    sending = asyncio.create_task(Outbox(pipe).send(b"a\n"))  # type: ignore[arg-type]
    await asyncio.wait([sending], timeout=0.02)
    assert not sending.done()
    pipe.can_take.set()
    await sending

    assert pipe.written == [b"a\n"]
