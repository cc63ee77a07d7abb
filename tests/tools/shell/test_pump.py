"""The pump takes what is in the pipe, and does not wait for those who hold it."""

import asyncio
import os
from pathlib import Path

from bridle.tools.shell.pump import Pump
from bridle.tools.shell.ring import Piece, Ring
from tests.patience import PATIENCE_S


async def test_a_pipe_is_read_to_its_end(tmp_path: Path):
    ring, heard = Ring(tmp_path), []
    pump = Pump(ring, heard.append)
    task = asyncio.create_task(pump.run())
    os.write(pump.target, b"hello")
    pump.close_target()
    await task

    assert (b"".join(heard), ring.read(0, 100)) == (b"hello", Piece(b"hello", 0))


async def test_a_pipe_that_stays_open_is_left(tmp_path: Path):
    ring = Ring(tmp_path)
    pump = Pump(ring, lambda _: None)
    task = asyncio.create_task(pump.run())
    os.write(pump.target, b"hello")
    pump.end()
    async with asyncio.timeout(PATIENCE_S):
        await task
    pump.close_target()

    assert ring.read(0, 100) == Piece(b"hello", 0)


async def test_a_cancelled_pump_closes_its_pipe(tmp_path: Path):
    before = len(os.listdir("/proc/self/fd"))
    pump = Pump(Ring(tmp_path), lambda _: None)
    task = asyncio.create_task(pump.run())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    pump.close_target()
    other = Pump(Ring(tmp_path), lambda _: None)
    other.close()

    assert len(os.listdir("/proc/self/fd")) <= before
