import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.comms.address import TcpAddress, UnixAddress
from bridle.comms.envelope import MAX_ENVELOPE_BYTES
from bridle.comms.listener import open_listener
from bridle.comms.wire import MAX_CONNECTIONS, BadFrame, PeerOffline, exchange, frame, read_frame
from tests.patience import PATIENCE_S


def fed(data: bytes) -> asyncio.StreamReader:
    """Return a reader of exactly these bytes."""
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


async def echo(data: bytes) -> bytes | None:
    return b"re:" + data


@asynccontextmanager
async def raw_server(*answers: bytes, close: bool = True) -> AsyncIterator[TcpAddress]:
    """Answer whatever comes with these bytes, and nothing else."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(BadFrame, ConnectionError):
            await read_frame(reader)
            for answer in answers:
                writer.write(answer)
            await writer.drain()
            if not close:
                await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield TcpAddress("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()


@given(st.binary(min_size=1, max_size=200))
async def test_a_frame_is_read_as_it_was_written(data: bytes):
    reader = fed(frame(data) + b"rest")

    assert frame(data) == len(data).to_bytes(4, "big") + data
    assert await read_frame(reader) == data
    assert await reader.read() == b"rest"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        b"\0\0\0\0",
        b"\0\0\0\5four",
        (MAX_ENVELOPE_BYTES + 1).to_bytes(4, "big"),
        frame(b"x" * (MAX_ENVELOPE_BYTES + 1)),
        b"\xff\xff\xff\xff" + b"x" * 100,
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_is_no_frame_is_refused(data: bytes):
    with pytest.raises(BadFrame):
        await read_frame(fed(data))


@pytest.mark.parametrize("kind", ["unix", "far", "tcp"])
async def test_an_envelope_is_answered_on_its_connection(tmp_path: Path, kind: str):
    far = tmp_path / ("x" * 120)
    far.mkdir(mode=0o700)
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    address = {
        "unix": UnixAddress(f"{folder}/a.sock"),
        "far": UnixAddress(f"{far}/a.sock"),
        "tcp": TcpAddress("127.0.0.1", 0),
    }[kind]
    largest = b"x" * MAX_ENVELOPE_BYTES

    async with open_listener(address, lambda data: asyncio.sleep(0, result=data[:10])) as real:
        answer = await exchange(real, largest, wants_answer=True)
        nothing = await exchange(real, b"no answer wanted", wants_answer=False)

    assert (answer, nothing) == (largest[:10], None)


async def test_an_answer_that_is_cut_off_or_missing_or_absurd_is_no_answer():
    for bytes_sent in (b"", b"\0\0", b"\0\0\0\5four", b"\xff\xff\xff\xff"):
        async with raw_server(bytes_sent) as address:
            with pytest.raises(PeerOffline, match="did not accept it"):
                await exchange(address, b"hello", wants_answer=True)


async def test_a_peer_that_says_nothing_is_waited_for_only_so_long():
    async with raw_server(close=False) as address:
        with pytest.raises(PeerOffline, match=r"no answer from tcp://127\.0\.0\.1:\d+ within 0\.05 s"):
            await exchange(address, b"hello", wants_answer=True, timeout_s=0.05)


async def test_where_nobody_listens_is_said(tmp_path: Path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        for address in (
            TcpAddress("127.0.0.1", port),
            UnixAddress(f"{tmp_path}/none.sock"),
            UnixAddress(f"{tmp_path}/{'x' * 120}/none.sock"),
        ):
            with pytest.raises(PeerOffline, match="nothing is listening at"):
                await exchange(address, b"hello", wants_answer=True)


async def test_a_cancelled_sender_leaves_no_connection():
    async with raw_server(close=False) as address:
        sending = asyncio.create_task(exchange(address, b"hello", wants_answer=True))
        await asyncio.wait([sending], timeout=0.05)
        sending.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(sending, PATIENCE_S)


async def test_a_slow_sender_is_cut_off():
    async with open_listener(TcpAddress("127.0.0.1", 0), echo, receive_s=0.1) as address:
        assert isinstance(address, TcpAddress)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"\0\0\0\x0a")  # ten bytes, which never come

        assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
        writer.close()


async def test_too_many_connections_push_out_the_oldest():
    async with open_listener(TcpAddress("127.0.0.1", 0), echo, receive_s=600) as address:
        assert isinstance(address, TcpAddress)
        idle = [await asyncio.open_connection(address.host, address.port) for _ in range(MAX_CONNECTIONS + 5)]

        answer = await exchange(address, b"hello", wants_answer=True)
        ends = [await asyncio.wait_for(reader.read(), PATIENCE_S) for reader, _ in idle[:5]]

        assert answer == b"re:hello"
        assert ends == [b""] * 5
        assert not idle[-1][0].at_eof()
        for _, writer in idle:
            writer.close()


async def test_only_one_envelope_is_taken_from_a_connection():
    taken = []

    async def take(data: bytes) -> bytes | None:
        taken.append(data)
        return b"ack"

    async with open_listener(TcpAddress("127.0.0.1", 0), take) as address:
        assert isinstance(address, TcpAddress)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(frame(b"one") + frame(b"two"))
        with suppress(ConnectionError):  # what was not read may reset it
            assert await asyncio.wait_for(reader.read(), PATIENCE_S) == frame(b"ack")
        writer.close()

    assert taken == [b"one"]
