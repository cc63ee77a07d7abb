"""The output of a server process is read, and the process ends with all its children."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from bridle.providers.llama.server_process import ServerProcess, spawn
from tests.patience import PATIENCE_S

IGNORES_SIGTERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True)"
)


async def run(program: str) -> ServerProcess:
    return await spawn([sys.executable, "-I", "-u", "-c", program], "the-key")


async def printed(child: ServerProcess, line: str) -> None:
    """Wait until the child printed a line."""
    async with asyncio.timeout(PATIENCE_S):
        while line not in child.lines:
            await asyncio.wait([child.ended], timeout=0.01)


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(PATIENCE_S):
        while is_running(pid):  # noqa: ASYNC110 - another process's end has no event
            await asyncio.sleep(0.01)


async def test_its_last_words_are_kept_without_the_key() -> None:
    child = await run(
        "import os, sys; print('x' * 9999); print('key', os.environ['LLAMA_API_KEY']);"
        "sys.exit('0.00.096.507 E srv  load_model: failed to load\\x1b[0m')"
    )

    await asyncio.wait_for(child.ended, PATIENCE_S)

    assert child.lines == ["x" * 500, "key ***", "0.00.096.507 E srv  load_model: failed to load [0m"]
    assert (child.exit_text, child.last_words) == ("exit code 1", "srv  load_model: failed to load [0m")


async def test_a_flood_of_output_is_bounded() -> None:
    child = await run("print('line\\n' * 100_000 + 'y' * 1_000_000)")

    await asyncio.wait_for(child.ended, PATIENCE_S)

    assert len(child.lines) <= 201
    assert max(map(len, child.lines)) <= 500


async def test_without_trouble_the_last_line_is_the_last_word() -> None:
    child = await run("print('one'); print('two')")

    await asyncio.wait_for(child.ended, PATIENCE_S)

    assert child.last_words == "two"


async def test_a_child_that_ignores_the_polite_request_is_killed() -> None:
    child = await run(f"{IGNORES_SIGTERM}; time.sleep(60)")
    await printed(child, "up")

    await child.stop(timeout_s=0.1)

    assert not child.is_alive
    assert child.exit_text == "killed by SIGKILL"


async def test_stopping_twice_is_harmless() -> None:
    child = await run("import time; time.sleep(60)")

    await child.stop(timeout_s=5)
    await child.stop(timeout_s=5)

    assert child.exit_text == "killed by SIGTERM"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_what_a_child_started_ends_with_it() -> None:
    child = await run(
        f"{IGNORES_SIGTERM}; import os, subprocess, sys;"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "print(f'started {p.pid}', flush=True); os.kill(os.getpid(), 9)"
    )

    await asyncio.wait_for(child.ended, PATIENCE_S)

    grandchild = int(child.lines[-1].split()[1])
    await gone(grandchild)
    assert child.exit_text == "killed by SIGKILL"


async def test_a_stop_that_is_cancelled_leaves_nothing_running() -> None:
    child = await run(f"{IGNORES_SIGTERM}; time.sleep(60)")
    await printed(child, "up")

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(child.stop(timeout_s=60), 0.2)

    assert not child.is_alive


async def test_it_works_in_the_folder_of_its_program() -> None:
    child = await run("import os; print(os.getcwd())")

    await asyncio.wait_for(child.ended, PATIENCE_S)

    assert child.lines == [os.path.dirname(sys.executable)]
