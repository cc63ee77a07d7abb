import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from bridle.core.errors import ToolError
from bridle.sandbox import LocalSandbox
from bridle.sandbox.cell import Cell, open_cell
from tests.patience import PATIENCE_S
from tests.sandbox.conftest import SESSION, Outcome, Run


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
async def test_errors_have_a_descriptor_of_their_own_where_one_is_given(run: Run):
    errors_from, errors_to = os.pipe()
    input_from, input_to = os.pipe()
    extra_from, extra_to = os.pipe()
    os.write(input_to, b"in\n")
    os.close(input_to)

    apart = await run(
        "cat; echo out; echo err >&2; echo told >&3", errors=errors_to, input=input_from, extra=extra_to
    )
    together = await run("echo out; echo err >&2")
    for descriptor in (errors_to, input_from, extra_to):
        os.close(descriptor)
    errors, told = os.read(errors_from, 100), os.read(extra_from, 100)
    os.close(errors_from)
    os.close(extra_from)

    assert (apart, errors, told) == (Outcome(0, "in\nout\n"), b"err\n", b"told\n")
    assert together == Outcome(0, "out\nerr\n")


def _failing_walls(folder: Path, said: str, *, times: int) -> list[str]:
    """Return walls that say why they fail so many times, and then let the launcher start."""
    program = folder / "walls"
    program.write_text(
        f'#!/bin/sh\necho started >> "{folder}/starts"\n'
        f'[ $(wc -l < "{folder}/starts") -gt {times} ] && exec "$@"\n'
        f'echo "{said}" >&2; exit 1\n'
    )
    program.chmod(0o755)
    return [str(program)]


SETUP = {"listen": False, "diagnose": False, "landlock": None}
VANISHED = "bwrap: Can't bind mount /oldroot/ on /newroot/: Unable to apply mount flags: Invalid argument"


async def test_a_start_is_tried_again_when_a_mount_vanished_meanwhile(tmp_path: Path):
    cell, _ = await open_cell(_failing_walls(tmp_path, VANISHED, times=2), b"", SETUP)
    await cell.close()

    assert (tmp_path / "starts").read_text().count("started") == 3


@pytest.mark.parametrize(("said", "starts"), [(VANISHED, 5), ("bwrap: No permissions", 1)])
async def test_a_start_that_keeps_failing_says_why(tmp_path: Path, said: str, starts: int):
    with pytest.raises(ToolError, match=r"the sandbox cannot be started: bwrap: "):
        await open_cell(_failing_walls(tmp_path, said, times=99), b"", SETUP)

    assert (tmp_path / "starts").read_text().count("started") == starts


async def test_nothing_is_kept_of_a_warden_that_was_killed_while_it_waited(run: Run, sandbox: LocalSandbox):
    await run("true")
    [room] = sandbox._rooms[SESSION].values()
    waiting = []
    async with asyncio.timeout(PATIENCE_S):
        while not waiting:
            await asyncio.sleep(0.01)
            waiting = [warden for _, warden in room.cell._idle]
    with suppress(ToolError):  # it may be quicker than the one that tells of it
        await run("kill -9 -1")
    after = None
    for _ in range(10):  # a warden may take its order and die before it starts the program
        with suppress(ToolError):
            after = await run("echo again")
            break

    assert waiting
    assert after == Outcome(0, "again\n")
    assert [warden.fileno() for warden in waiting] == [-1] * len(waiting)


async def test_a_warden_that_came_as_its_start_was_cancelled_is_kept_for_the_next():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    warden, other = socket.socketpair()
    cell = Cell(None, ours, has_walls=False)  # type: ignore[arg-type]
    with theirs, other:
        start = asyncio.ensure_future(cell._take_warden())
        await asyncio.sleep(0)
        cell._welcome(1, warden)
        start.cancel()
        await asyncio.wait([start])

        assert start.cancelled()
        assert await cell._take_warden() == (1, warden)
        cell._keep(1, warden)
        cell._drop("")
        assert warden.fileno() == -1
