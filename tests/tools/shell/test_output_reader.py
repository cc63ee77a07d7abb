"""The reader takes what is in the pipe, and does not wait for processes that keep it open."""

import asyncio
import os
from pathlib import Path

from bridle.tools.shell.output_buffer import OutputBuffer, OutputSlice
from bridle.tools.shell.running_command import OutputReader
from tests.patience import PATIENCE_S


async def test_a_pipe_is_read_to_its_end(tmp_path: Path):
    ring, heard = OutputBuffer(tmp_path), []
    pump = OutputReader(ring, heard.append)
    task = asyncio.create_task(pump.run())
    os.write(pump.target, b"hello")
    pump.close_target()
    await task

    assert (b"".join(heard), ring.read(0, 100)) == (b"hello", OutputSlice(b"hello", 0))


async def test_a_pipe_that_stays_open_is_left(tmp_path: Path):
    ring = OutputBuffer(tmp_path)
    pump = OutputReader(ring, lambda _: None)
    task = asyncio.create_task(pump.run())
    os.write(pump.target, b"hello")
    pump.end()
    async with asyncio.timeout(PATIENCE_S):
        await task
    pump.close_target()

    assert ring.read(0, 100) == OutputSlice(b"hello", 0)


async def test_a_cancelled_pump_closes_its_pipe(tmp_path: Path):
    before = len(os.listdir("/proc/self/fd"))
    pump = OutputReader(OutputBuffer(tmp_path), lambda _: None)
    task = asyncio.create_task(pump.run())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    pump.close_target()
    other = OutputReader(OutputBuffer(tmp_path), lambda _: None)
    other.close()

    assert len(os.listdir("/proc/self/fd")) <= before
