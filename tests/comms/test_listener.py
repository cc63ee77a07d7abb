import asyncio
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from bridle.comms.address import TcpAddress, UnixAddress
from bridle.comms.listener import open_listener
from bridle.comms.wire import exchange
from bridle.core.errors import ConfigError
from tests.patience import PATIENCE_S


async def take(data: bytes) -> bytes | None:
    return data


async def test_the_socket_is_the_users_alone_and_goes_away(tmp_path: Path):
    path = tmp_path / "run/comms/a.sock"
    before = os.umask(0)
    try:
        async with open_listener(UnixAddress(str(path)), take) as address:
            assert address == UnixAddress(str(path))
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    finally:
        os.umask(before)

    assert not path.exists()


async def test_one_process_listens_at_a_path(tmp_path: Path):
    path = tmp_path / "private/a.sock"
    address = UnixAddress(str(path))
    async with open_listener(address, take):
        with pytest.raises(ConfigError, match="another process is listening at"):
            async with open_listener(address, take):
                raise AssertionError("two listen")
        assert await exchange(address, b"still here", wants_answer=True) == b"still here"


async def test_what_a_dead_process_left_is_taken_over(tmp_path: Path):
    path = tmp_path / "private/a.sock"
    path.parent.mkdir(mode=0o700)
    path.touch()

    async with open_listener(UnixAddress(str(path)), take) as address:
        assert await exchange(address, b"hello", wants_answer=True) == b"hello"


async def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o755)

    with pytest.raises(ConfigError, match="is not private to you"):
        async with open_listener(UnixAddress(f"{folder}/a.sock"), take):
            raise AssertionError("it listens")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "box.example"])
async def test_other_machines_are_kept_out_unless_they_are_let_in(host: str):
    with pytest.raises(ConfigError, match="can be reached from other machines"):
        async with open_listener(TcpAddress(host, 0), take):
            raise AssertionError("it listens")


async def test_other_machines_may_be_let_in():
    async with open_listener(TcpAddress("0.0.0.0", 0), take, other_machines=True) as address:
        assert isinstance(address, TcpAddress)
        assert await exchange(TcpAddress("127.0.0.1", address.port), b"x", wants_answer=True) == b"x"


async def test_a_port_that_is_taken_is_said():
    async with open_listener(TcpAddress("127.0.0.1", 0), take) as address:
        with pytest.raises(ConfigError, match="cannot listen at tcp://127"):
            async with open_listener(address, take):
                raise AssertionError("two listen")


async def test_leaving_ends_connections_at_once(tmp_path: Path):
    never = asyncio.Event()

    async def stuck(data: bytes) -> bytes | None:
        await never.wait()
        return None

    async with open_listener(TcpAddress("127.0.0.1", 0), stuck) as address:
        assert isinstance(address, TcpAddress)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"\0\0\0\1x")
        await writer.drain()

    with suppress(ConnectionResetError):
        assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
    writer.close()


async def test_what_is_being_answered_when_we_leave_is_answered():
    came, done = asyncio.Event(), asyncio.Event()

    async def slow(data: bytes) -> bytes | None:
        came.set()
        asyncio.get_running_loop().call_later(0.01, done.set)
        await done.wait()
        return b"taken"

    async with open_listener(TcpAddress("127.0.0.1", 0), slow) as address:
        sending = asyncio.create_task(exchange(address, b"hello", wants_answer=True))
        await came.wait()

    assert await sending == b"taken"


async def test_an_error_of_the_caller_comes_through_as_it_is(tmp_path: Path):
    path = tmp_path / "private/a.sock"

    with pytest.raises(KeyError):
        async with open_listener(UnixAddress(str(path)), take):
            raise KeyError("mine")
    assert not path.exists()
