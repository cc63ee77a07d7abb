"""Looking up hosts without blocking."""

import asyncio
import threading

import pytest

from bridle.core.errors import ToolError
from bridle.tools.web.network import look_up


async def test_the_system_knows_this_machine():
    assert set(await look_up("localhost")) <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("host", ["nothing.invalid", "a" * 70, "a..b"])
async def test_an_unknown_host_is_an_error(host: str):
    with pytest.raises(ToolError, match="not found: "):
        await look_up(host)


async def test_a_cancelled_lookup_does_not_hold_the_program_up():
    task = asyncio.create_task(look_up("localhost"))
    await asyncio.sleep(0)
    lookups = [thread for thread in threading.enumerate() if thread.name == "look up localhost"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert all(thread.daemon for thread in lookups)
    await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in lookups))
