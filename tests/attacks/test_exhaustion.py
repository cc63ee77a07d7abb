"""Attack 9: use up the machine, or outlive the session.

A process is known by a word in its command line that no other has; nothing with it may be left.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.attacks.stage import CONFIG, Stage, run_bare
from tests.patience import PATIENCE_S

MEMORY_BYTES = 256 * 1024**2
FILE_BYTES = 1024**2
MAX_PROCESSES = 40


@pytest.fixture
async def stage(world: Path) -> AsyncIterator[Stage]:
    """Yield a stage with narrow limits."""
    made = Stage(world, config=f"{CONFIG}max_file_bytes = {FILE_BYTES}\n")
    yield made
    await made.close()


@pytest.fixture
def word(world: Path) -> str:
    """Return the word that marks the processes of this test."""
    return f"marked-{world.name}"


def marked(word: str) -> list[int]:
    """Return the processes of this machine whose command line holds the word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


async def left(word: str) -> list[int]:
    """Return the processes with the word that do not end; killed ones may take a moment on a busy machine."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while marked(word):  # noqa: ASYNC110  only a child's exit can be awaited
                await asyncio.sleep(0.02)
    return marked(word)


SLEEP = "bash -c 'exec -a {word} sleep 600'"
FORK_TWICE = (
    "import os, time\n"
    "for _ in range(2):\n"
    "    if os.fork(): os._exit(0)\n"
    "    os.setsid()\n"
    "os.execvp('sleep', ['{word}', '600'])\n"
)
RUNAWAYS = [
    SLEEP + " &",
    SLEEP + " & disown",
    "nohup " + SLEEP + " > /dev/null 2>&1 &",
    "setsid " + SLEEP + " > /dev/null 2>&1 < /dev/null &",
    "setsid -f " + SLEEP,
    "(" + SLEEP + " &)",
    "(setsid bash -c \"trap '' TERM INT HUP; " + SLEEP.replace("'", '\\"') + '" &) > /dev/null 2>&1',
    "python3 - <<'END'\n" + FORK_TWICE + "END",
    "coproc " + SLEEP,
    'bash -c \'trap "" TERM; while :; do ' + SLEEP.replace("'", '"') + "; done' > /dev/null 2>&1 &",
    "exec 3>&1 4>&1; " + SLEEP + " >&4 &",
    "at now <<< '" + SLEEP.replace("'", "") + "'; " + SLEEP + " &",
]


@pytest.mark.parametrize("command", RUNAWAYS)
async def test_nothing_outlives_its_command(stage: Stage, word: str, command: str):
    async with asyncio.timeout(PATIENCE_S):
        await stage.shell(command.replace("{word}", word))

    assert await left(word) == []


async def test_the_same_trick_does_outlive_a_bare_shell(stage: Stage, word: str):
    """The control of the table above."""
    await asyncio.to_thread(run_bare, f"setsid -f {SLEEP.format(word=word)} > /dev/null 2>&1", stage)
    found = marked(word)
    for pid in found:
        os.kill(pid, signal.SIGKILL)

    assert found != []


STUBBORN = [
    "trap '' TERM INT HUP QUIT; : {word}; while :; do sleep 9; done",
    "yes {word}",
    "cat /dev/zero; : {word}",
    "while :; do :; done; : {word}",
    "bash -c 'kill -STOP $$; : {word}'",
    "kill -STOP $$; : {word}",
    "python3 -c 'import signal; [signal.signal(s, 1) for s in (1, 2, 3, 15)]; signal.pause() # {word}'",
    "(trap '' TERM; setsid sleep 999 & wait); : {word}",
    "sleep 999 < /dev/tcp/127.0.0.1/1 || sleep 999; : {word}",
    "read -r line < /dev/zero; : {word}",
    "mkfifo f; cat f; : {word}",
    "wait; exec 3<> <(sleep 999); cat <&3; : {word}",
    ":() { : {word}; bomb; }; bomb() { bomb | bomb & }; bomb; sleep 999",
    "python3 -c 'import os\nwhile True:\n try: os.fork()\n except OSError: pass # {word}'",
]


@pytest.mark.parametrize("command", STUBBORN)
async def test_a_command_that_never_ends_is_gone_when_it_is_cancelled(stage: Stage, word: str, command: str):
    task = asyncio.create_task(stage.shell(f"echo ready; {command.replace('{word}', word)}"))
    async with asyncio.timeout(PATIENCE_S):
        await stage.heard.wait()
    await asyncio.sleep(0.1)  # let it do its worst
    before = marked(word)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        async with asyncio.timeout(PATIENCE_S):
            await task

    assert (before != [], await left(word)) == (True, [])


@pytest.mark.slow
async def test_a_command_that_ignores_its_timeout_is_ended(stage: Stage, word: str):
    async with asyncio.timeout(PATIENCE_S):
        seen = await stage.shell(f"trap '' TERM; : {word}; yes", timeout=1)

    assert (seen.is_error, len(seen.text) < 64 * 1024, await left(word)) == (True, True, [])


async def test_a_fork_bomb_is_bounded(stage: Stage, word: str):
    script = (
        "import os, time",
        "for _ in range(500):",
        "    try: os.fork() or time.sleep(600)",
        "    except OSError: break",
        f"time.sleep(600) # {word}",
    )
    bomb = f"python3 -c '{chr(10).join(script)}'"
    task = asyncio.create_task(stage.shell(bomb))
    counts = []
    async with asyncio.timeout(PATIENCE_S):
        while max(counts, default=0) < MAX_PROCESSES - 5:
            await asyncio.sleep(0.02)
            counts.append(len(marked(word)))
    await asyncio.sleep(0.3)
    counts.append(len(marked(word)))
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task

    assert (max(counts) <= MAX_PROCESSES + 3, await left(word)) == (True, [])


async def test_all_jobs_end_with_the_session(stage: Stage, word: str):
    await stage.shell(f"trap '' TERM; while :; do {SLEEP.format(word=word)}; done", background=True)
    before = marked(word)

    await stage.close()

    assert (before != [], await left(word)) == (True, [])


async def test_memory_is_bounded(stage: Stage):
    """The smaller one is the control."""
    sizes = {
        name: await stage.shell(f"python3 -c 'print(len(bytes({size})))'")
        for name, size in (("small", 50_000_000), ("large", 900_000_000))
    }

    assert sizes["small"].text == "50000000"
    assert "MemoryError" in sizes["large"].text


async def test_a_file_grows_no_larger_than_allowed(stage: Stage):
    """The smaller one is the control."""
    await stage.shell(
        "head -c 1000 /dev/zero > small; head -c 9000000 /dev/zero > large; truncate -s 9G larger"
    )
    sizes = {
        path.name: path.stat().st_size
        for path in stage.project.iterdir()
        if path.name in ("small", "large", "larger")
    }

    assert sizes["small"] == 1000
    assert max(sizes.values()) <= FILE_BYTES


async def test_a_flood_of_output_is_cut(stage: Stage):
    seen = await stage.shell("head -c 60000000 /dev/zero | tr '\\0' a; echo; echo the end")

    assert (len(seen.text) < 64 * 1024, seen.text.count("the end")) == (True, 1)
    assert all(len(channel) < 61_000_000 for channel in seen.channels)


@pytest.mark.parametrize("path", ["/tmp", "/dev/shm", "/run", "/var/tmp"])
async def test_memory_is_not_filled_through_a_file_system(stage: Stage, path: str):
    """Limits of a process do not count what lies in a tmpfs."""
    seen = await stage.shell(f"df -B1 --output=size {path} | tail -n 1")

    assert int(seen.text) <= 1024**3


@pytest.mark.parametrize("path", ["/dev", "/proc", "/sys", "/"])
async def test_no_file_is_made_in_a_file_system_without_a_bound(stage: Stage, path: str):
    assert (await stage.shell(f"touch {path}/file")).is_error
